// How a backward pass treats nonlinear operations, and the share that biases take.
#pragma once
#include <vector>

#include "headwater/kernel/backward.h"
#include "headwater/source/relevance.h"

namespace headwater {

/// The derivative itself by default.
struct Propagation {
  Propagation() = default;
  /// Counts biases, too.
  explicit Propagation(RelevanceRule rule);

  kernel::Slope slope = kernel::Slope::tangent;
  kernel::AttentionRule attention;
  bool counts_biases = false;
  double biases = 0;  // the sum of bias x gradient so far
  /// Of inputs one below the other: their numbers of rows, and the sum of each in place of
  /// `biases`.
  std::vector<int> lengths;
  std::vector<double> each;

  /// Adds bias x gradient, summed over all rows, for a map that adds the bias to each. An empty
  /// bias is none.
  void absorb(MatrixView gradient, const Vector& bias);
};

}  // namespace headwater
