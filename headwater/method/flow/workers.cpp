#include "headwater/method/flow/workers.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "headwater/core/parallel.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

namespace headwater {

namespace {

// How many n x n matrices fit besides the capacities, `solvers` solvers and the result.
int matrices_beside(const Capacities& capacities, int solvers) {
  constexpr double beside = 40e6;  // of 64 MB; the rest is for the program itself
  const int layers = capacities.layers(), n = capacities.n();
  // Residual capacities, four bits an arc, and the arcs of collecting nodes.
  const double of_solver = 1.125 * std::max(0, layers - 2) + 0.25;
  const int result = 5;  // int32, double, float and the lowest layer's columns
  const double extra = beside / (4.0 * n * n);
  const double left = 2 * layers + 8 + std::min(extra, 1e6) - layers - result - solvers * of_solver;
  return static_cast<int>(std::floor(left));
}

}  // namespace

Workers::Workers(const Capacities& capacities) : network_(capacities.network()) {
  int count = std::max(1, threads());
  while (count > 1 && matrices_beside(capacities, count) < 0) --count;
  // Half of the rest is for columns, which speed up the search.
  const int left = std::max(0, matrices_beside(capacities, count));
  const int transposed = std::min(left / 2, std::max(0, capacities.layers() - 2));
  matrices_left_ = left - transposed;
  columns_ = std::make_unique<kernel::FlowColumns>(network_, transposed);
  network_.columns = columns_.get();
  for (int k = 0; k < count; ++k) solvers_.push_back(kernel::in_use().flow.solver(network_));
}

void Workers::run(int tasks,
                  const std::function<void(kernel::FlowSolver&, int worker, int k)>& task) {
  std::atomic<int> next = 0;
  parallel_for(std::min(count(), tasks), [&](int worker) {
    try {
      for (int k; (k = next.fetch_add(1)) < tasks;) {
        if (before_) before_();
        task(*solvers_[static_cast<size_t>(worker)], worker, k);
      }
    } catch (...) {
      next = tasks;
      throw;
    }
  });
}

}  // namespace headwater
