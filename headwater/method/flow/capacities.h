// The layered attention graph with integer capacities. Exact flow is computed on this.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/kernel/flow/flow.h"
#include "headwater/kernel/flow/memory.h"

namespace headwater {

/// Levels 0 ... L, with a node for each token and level. The arcs from level l to level l - 1 are
/// the weights of layer l - 1; layers count from 0, the lowest.
class Capacities {
 public:
  explicit Capacities(int n);

  /// Adds a layer on top.
  void add(MatrixView layer);

  int n() const { return n_; }
  int stride() const { return stride_; }
  int layers() const { return static_cast<int>(arcs_.size()); }
  /// No layer has a weight above the diagonal.
  bool causal() const { return causal_; }
  /// Every row sums to 2^30, so none is zero.
  bool stochastic() const { return stochastic_; }
  /// The arcs from node (l, u) down to level l - 1, l = 1 ... layers(), zero-padded to the stride.
  const int32_t* row(int l, int u) const {
    return arcs_[static_cast<size_t>(l) - 1].data() +
           static_cast<size_t>(u) * static_cast<size_t>(stride_);
  }
  /// The arcs into node (0, t): column t of layer 0.
  const int32_t* bottom_column(int t) const {
    return bottom_columns_.data() + static_cast<size_t>(t) * static_cast<size_t>(stride_);
  }
  /// Sum over u of row(l, u)[v], l = 1 ... layers().
  std::span<const int64_t> column_sums(int l) const {
    return column_sums_[static_cast<size_t>(l) - 1];
  }
  /// Borrows this object.
  kernel::FlowNetwork network() const;

 private:
  int n_, stride_;
  bool causal_ = true, stochastic_ = true;
  std::vector<kernel::IntArray> arcs_, diagonals_;
  std::vector<std::vector<int64_t>> column_sums_;
  kernel::IntArray bottom_columns_;
};

}  // namespace headwater
