#include "headwater/method/flow_bounds.h"

#include <algorithm>
#include <numeric>

#include "headwater/core/threads.h"

namespace headwater {
namespace {

constexpr int patience = 4;  // sets that bring nothing before no larger one is tried

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
  const kernel::FlowTable& run = kernel::flow_table();
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

void ChainBound::compute(int t, int top) {
  from_the_side_ = 0;
  for (int l = 1; l <= top - 2; ++l)
    from_the_side_ += capacities_.column_sums(l)[static_cast<size_t>(t)] - capacities_.row(l, t)[t];
  for (int u = 0; u < capacities_.n(); ++u) column_[u] = capacities_.row(top - 1, u)[t];
}

LargestBound::LargestBound(const Capacities& capacities, int top)
    : capacities_(capacities),
      top_(top),
      sets_(std::min(most_sets, capacities.n())),
      largest_(static_cast<size_t>(capacities.n()) * static_cast<size_t>(sets_)) {
  std::vector<int> order(static_cast<size_t>(capacities.n()));
  for (int i = 0; i < capacities.n(); ++i) {
    const int32_t* row = capacities.row(top, i);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + sets_, [&](int u, int v) {
      return row[u] != row[v] ? row[u] > row[v] : u < v;
    });
    std::copy_n(order.begin(), sets_, largest_.begin() + static_cast<ptrdiff_t>(i) * sets_);
  }
}

int64_t LargestBound::of(int i, const ChainBound& below, kernel::IntArray& scratch) const {
  const kernel::FlowTable& run = kernel::flow_table();
  const int stride = capacities_.stride();
  const int32_t* row = capacities_.row(top_, i);
  std::fill_n(scratch.data(), stride, 0);
  int64_t best = kernel::flow_unit, others = kernel::flow_unit;
  for (int s = 0, worse = 0; s < sets_ && worse < patience; ++s) {
    const int u =
        largest_[static_cast<size_t>(i) * static_cast<size_t>(sets_) + static_cast<size_t>(s)];
    others -= row[u];
    run.add_minima(kernel::flow_unit, capacities_.row(top_ - 1, u), scratch.data(), 0, stride);
    const int64_t bound = others + below.of(scratch.data(), 0, stride);
    worse = bound < best ? 0 : worse + 1;
    best = std::min(best, bound);
  }
  return best;
}

SourceBounds::SourceBounds(const Capacities& capacities, int top, const std::vector<int>& sources,
                           int most)
    : capacities_(capacities) {
  const size_t stride = static_cast<size_t>(capacities.stride());
  const int levels = top - 2;  // those between the source's own arcs and level 1
  const int count = std::min(levels, most);
  for (int k = 0; k < count; ++k)
    kept_.emplace_back(1 + k * levels / count, kernel::IntArray(sources.size() * stride));
  if (count <= 0) return;
  const kernel::FlowTable& run = kernel::flow_table();
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
  int64_t best = kernel::flow_unit;
  const size_t stride = static_cast<size_t>(capacities_.stride());
  for (const auto& [level, values] : kept_)
    best = std::min(best, kernel::flow_table().sum_of_minima(
                              values.data() + static_cast<size_t>(r) * stride, sink.level(level),
                              block_begin(begin), block_end(end - 1)));
  return best;
}

}  // namespace headwater
