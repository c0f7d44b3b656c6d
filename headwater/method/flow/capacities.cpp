#include "headwater/method/flow/capacities.h"

#include <algorithm>
#include <atomic>

#include "headwater/core/parallel.h"
#include "headwater/method/flow/quantise.h"

namespace headwater {
namespace {

constexpr int rows_of_a_task = 32;

int padded(int n) { return (n + kernel::flow_block - 1) / kernel::flow_block * kernel::flow_block; }

}  // namespace

Capacities::Capacities(int n) : n_(n), stride_(padded(n)) {}

void Capacities::add(MatrixView layer) {
  const size_t stride = static_cast<size_t>(stride_), n = static_cast<size_t>(n_);
  kernel::IntArray arcs(n * stride), diagonal(stride);
  std::atomic<bool> causal = true, stochastic = true;
  parallel_for((n_ + rows_of_a_task - 1) / rows_of_a_task, [&](int block) {
    const int end = std::min(n_, (block + 1) * rows_of_a_task);
    for (int u = block * rows_of_a_task; u < end; ++u) {
      const std::span<int32_t> row(arcs.data() + static_cast<size_t>(u) * stride, n);
      quantise(layer.row(u), row);
      diagonal[u] = row[static_cast<size_t>(u)];
      if (std::ranges::any_of(row.subspan(static_cast<size_t>(u) + 1),
                              [](int32_t x) { return x != 0; }))
        causal = false;
      if (std::ranges::all_of(row, [](int32_t x) { return x == 0; })) stochastic = false;
    }
  });
  causal_ &= causal;
  stochastic_ &= stochastic;
  std::vector<int64_t> sums(n);
  for (size_t u = 0; u < n; ++u)
    for (size_t v = 0; v < n; ++v) sums[v] += arcs[u * stride + v];
  column_sums_.push_back(std::move(sums));
  if (arcs_.empty()) {
    bottom_columns_ = kernel::IntArray(n * stride);
    for (size_t u = 0; u < n; ++u)
      for (size_t v = 0; v < n; ++v) bottom_columns_[v * stride + u] = arcs[u * stride + v];
  }
  arcs_.push_back(std::move(arcs));
  diagonals_.push_back(std::move(diagonal));
}

kernel::FlowNetwork Capacities::network() const {
  kernel::FlowNetwork network;
  network.n = n_;
  network.stride = stride_;
  network.causal = causal_;
  network.arcs.push_back(nullptr);
  network.diagonals.push_back(nullptr);
  for (size_t l = 0; l < arcs_.size(); ++l) {
    network.arcs.push_back(arcs_[l].data());
    network.diagonals.push_back(diagonals_[l].data());
  }
  return network;
}

}  // namespace headwater
