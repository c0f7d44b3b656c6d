// The layered attention graph with integer capacities: what exact flow is computed on.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/kernel/flow/flow.h"
#include "headwater/kernel/flow/memory.h"

namespace headwater {

/// Levels 0 ... L, a node for each token and level. Layer l's weights (from 1, the lowest) are the
/// arcs from level l to level l - 1.
class Capacities {
 public:
  explicit Capacities(int n);

  /// Puts a layer on top of those that are there.
  void add(MatrixView layer);

  int n() const { return n_; }
  int stride() const { return stride_; }
  int layers() const { return static_cast<int>(arcs_.size()); }
  /// No weight above the diagonal anywhere.
  bool causal() const { return causal_; }
  /// Every row sums to 2^30: none is zero.
  bool stochastic() const { return stochastic_; }
  /// Row u of layer l, l = 1 ... layers(), with zeros up to the stride.
  const int32_t* row(int l, int u) const {
    return arcs_[static_cast<size_t>(l) - 1].data() +
           static_cast<size_t>(u) * static_cast<size_t>(stride_);
  }
  /// Column t of layer 1.
  const int32_t* bottom_column(int t) const {
    return bottom_columns_.data() + static_cast<size_t>(t) * static_cast<size_t>(stride_);
  }
  /// Sum over u of row(l, u)[v].
  std::span<const int64_t> column_sums(int l) const {
    return column_sums_[static_cast<size_t>(l) - 1];
  }
  /// Borrows this.
  kernel::FlowNetwork network() const;

 private:
  int n_, stride_;
  bool causal_ = true, stochastic_ = true;
  std::vector<kernel::IntArray> arcs_, diagonals_;
  std::vector<std::vector<int64_t>> column_sums_;
  kernel::IntArray bottom_columns_;
};

}  // namespace headwater
