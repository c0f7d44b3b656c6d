#include "headwater/method/flow/bounds.h"

#include <algorithm>
#include <numeric>

#include "headwater/core/parallel.h"
#include "headwater/kernel/kernel.h"

namespace headwater {
namespace {

int block_begin(int token) { return token / kernel::flow_block * kernel::flow_block; }
int block_end(int token) { return block_begin(token) + kernel::flow_block; }

}  // namespace

std::vector<int32_t> intake(const Capacities& capacities) {
  std::vector<int32_t> out(static_cast<size_t>(capacities.n()));
  const std::span<const int64_t> brought = capacities.column_sums(2);
  for (int t = 0; t < capacities.n(); ++t) {
    const int32_t* column = capacities.bottom_column(t);
    int64_t sum = 0;
    for (size_t u = 0; u < brought.size(); ++u)
      sum += std::min(brought[u], static_cast<int64_t>(column[u]));
    out[static_cast<size_t>(t)] = static_cast<int32_t>(std::min<int64_t>(kernel::flow_unit, sum));
  }
  return out;
}

SinkBounds::SinkBounds(const Capacities& capacities, int top) : capacities_(capacities), top_(top) {
  for (int l = 0; l < top; ++l) levels_.emplace_back(capacities.stride());
}

void SinkBounds::compute(int t) {
  const kernel::FlowKernels& run = kernel::in_use().flow;
  const int n = capacities_.n(), stride = capacities_.stride();
  const bool causal = capacities_.causal();
  const int first = causal ? t : 0;
  std::copy_n(capacities_.bottom_column(t), stride, levels_[1].data());
  any_ = kernel::flow_unit;
  for (int l = 2; l <= top_; ++l) {
    const kernel::IntArray& below = levels_[static_cast<size_t>(l) - 1];
    const std::span<const int64_t> brought = capacities_.column_sums(l);
    int64_t through = 0;
    for (int u = first; u < n; ++u)
      through += std::min(brought[static_cast<size_t>(u)], static_cast<int64_t>(below[u]));
    any_ = static_cast<int32_t>(std::min<int64_t>(any_, through));
    if (l == top_) break;
    kernel::IntArray& here = levels_[static_cast<size_t>(l)];
    std::fill_n(here.data(), here.size(), 0);
    for (int u = first; u < n; ++u) {
      const int64_t sum = run.sum_of_minima(capacities_.row(l, u), below.data(), block_begin(first),
                                            causal ? block_end(u) : stride);
      here[u] = static_cast<int32_t>(std::min<int64_t>(any_, sum));
    }
  }
}

ChainBound::ChainBound(const Capacities& capacities)
    : capacities_(capacities), order_(static_cast<size_t>(capacities.n())) {
  for (int s = 0; s < std::min(most_tokens, capacities.n()); ++s)
    sets_.emplace_back(capacities.stride());
}

void ChainBound::compute(int t, int top) {
  const int n = capacities_.n(), m = top - 2;
  const auto attention = [&](int v) { return capacities_.row(m, v)[t]; };
  std::iota(order_.begin(), order_.end(), 0);
  std::swap(order_[0], order_[static_cast<size_t>(t)]);
  const auto last = order_.begin() + static_cast<ptrdiff_t>(sets_.size());
  std::partial_sort(order_.begin() + 1, last, order_.end(), [&](int u, int v) {
    return attention(u) != attention(v) ? attention(u) > attention(v) : u < v;
  });
  int64_t elsewhere = capacities_.column_sums(m)[static_cast<size_t>(t)];
  for (int l = 1; l < m; ++l)
    elsewhere += capacities_.column_sums(l)[static_cast<size_t>(t)] - capacities_.row(l, t)[t];
  const Set* before = nullptr;
  for (size_t s = 0; s < sets_.size(); ++s) {
    Set& set = sets_[s];
    const int w = order_[s];
    set.elsewhere = elsewhere -= attention(w);
    for (int u = 0; u < n; ++u)
      set.arcs[u] = capacities_.row(top - 1, u)[w] + (before ? before->arcs[u] : 0);
    before = &set;
  }
}

int64_t ChainBound::of(const int32_t* row, int begin, int end) const {
  const kernel::FlowKernels& run = kernel::in_use().flow;
  int64_t best = kernel::flow_unit;
  for (const Set& set : sets_)
    best = std::min(best, set.elsewhere + run.sum_of_minima(row, set.arcs.data(), begin, end));
  return best;
}

SourceBounds::SourceBounds(const Capacities& capacities, int top, const std::vector<int>& sources,
                           int most)
    : capacities_(capacities) {
  const size_t stride = static_cast<size_t>(capacities.stride());
  const int levels = top - 2;  // 1 ... top - 2: those between the source's own arcs and level 1
  const int count = std::min(levels, most);
  for (int k = 0; k < count; ++k)
    kept_.emplace_back(1 + k * levels / count, kernel::IntArray(sources.size() * stride));
  if (count <= 0) return;
  const kernel::FlowKernels& run = kernel::in_use().flow;
  parallel_for(static_cast<int>(sources.size()), [&](int r) {
    const int i = sources[static_cast<size_t>(r)];
    const int end = capacities.causal() ? block_end(i) : capacities.stride();
    kernel::IntArray above(stride), here(stride);
    std::copy_n(capacities.row(top, i), stride, above.data());
    for (int l = top - 2; l >= kept_.front().first; --l) {
      std::fill_n(here.data(), stride, 0);
      for (int w = 0; w < capacities.n(); ++w)
        if (above[w] > 0) run.add_minima(above[w], capacities.row(l + 1, w), here.data(), 0, end);
      for (auto& [level, values] : kept_)
        if (level == l)
          std::copy_n(here.data(), stride, values.data() + static_cast<size_t>(r) * stride);
      std::swap(above, here);
    }
  });
}

int64_t SourceBounds::with(const SinkBounds& sink, int r, int begin, int end) const {
  const kernel::FlowKernels& run = kernel::in_use().flow;
  int64_t best = kernel::flow_unit;
  const size_t stride = static_cast<size_t>(capacities_.stride());
  for (const auto& [level, values] : kept_)
    best = std::min(
        best, run.sum_of_minima(values.data() + static_cast<size_t>(r) * stride, sink.level(level),
                                block_begin(begin), block_end(end - 1)));
  return best;
}

}  // namespace headwater
