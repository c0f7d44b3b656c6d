#include "headwater/method/flow/cut_pool.h"

#include <algorithm>
#include <limits>

#include "headwater/kernel/kernel.h"

namespace headwater {

void CutPool::add(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value) {
  if (used_ == most) {
    std::rotate(cuts_.begin(), cuts_.begin() + 1, cuts_.end());  // drops the least useful
    --used_;
  }
  if (used_ == cuts_.size()) cuts_.push_back({0, kernel::IntArray(stride_)});
  Cut& cut = cuts_[used_++];
  cut.below = value;
  std::fill_n(cut.sink_side.data(), cut.sink_side.size(), 0);
  for (int u = task.begin; u < task.end; ++u) {
    if (!solver.sink_side(task.top - 1, u)) continue;
    cut.sink_side[u] = std::numeric_limits<int32_t>::max();
    cut.below -= task.supply[u];
  }
}

int64_t CutPool::bound(const int32_t* supply, int64_t bound, int begin, int end) {
  const kernel::FlowKernels& run = kernel::in_use().flow;
  size_t best = used_;
  for (size_t k = 0; k < used_; ++k) {
    const int64_t value =
        cuts_[k].below + run.sum_of_minima(supply, cuts_[k].sink_side.data(), begin, end);
    if (value >= bound) continue;
    bound = value;
    best = k;
  }
  if (best + 1 < used_) std::swap(cuts_[best], cuts_[best + 1]);
  return bound;
}

}  // namespace headwater
