#include "headwater/kernel/flow/columns.h"

#include <algorithm>

namespace headwater::kernel {

FlowColumns::FlowColumns(const FlowNetwork& network, int most)
    : network_(network),
      left_(most),
      levels_(network.arcs.size()),
      transposed_(std::make_unique<std::atomic<const int32_t*>[]>(network.arcs.size())) {}

// Squares of 16 x 16, so that each cache line is read and written once.
void FlowColumns::transpose(int k) const {
  if (column(k, 0)) return;
  const std::lock_guard lock(mutex_);
  if (column(k, 0) || left_ == 0) return;
  --left_;
  const int n = network_.n;
  const size_t stride = static_cast<size_t>(network_.stride);
  IntArray transposed(static_cast<size_t>(n) * stride);
  for (int u = 0; u < n; u += flow_block)
    for (int v = 0; v < n; v += flow_block) {
      int32_t square[flow_block][flow_block] = {};
      for (int r = 0; r < std::min(flow_block, n - u); ++r)
        for (int c = 0; c < flow_block; ++c) square[c][r] = network_.row(k, u + r)[v + c];
      for (int c = 0; c < std::min(flow_block, n - v); ++c)
        std::copy_n(square[c], flow_block,
                    transposed.data() + static_cast<size_t>(v + c) * stride + u);
    }
  for (size_t v = 0; v < static_cast<size_t>(n); ++v) transposed[v * stride + v] = 0;
  levels_[static_cast<size_t>(k)] = std::move(transposed);
  transposed_[static_cast<size_t>(k)].store(levels_[static_cast<size_t>(k)].data(),
                                            std::memory_order_release);
}

}  // namespace headwater::kernel
