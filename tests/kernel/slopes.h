// Derivatives by differences.
#pragma once
#include <functional>

#include "tests/kernel/judge.h"

namespace headwater::kernel {

// sum of out (x) weights: the number that is differentiated.
inline double total(MatrixView out, MatrixView weights) {
  double sum = 0;
  for (int t = 0; t < out.rows(); ++t)
    for (int k = 0; k < out.columns(); ++k) sum += double{out(t, k)} * weights(t, k);
  return sum;
}

// Central differences of y in every entry of x. Results are floats, so the step is wide and the
// limit is what rounding leaves.
inline void expect_slopes(MatrixSpan x, MatrixView gradient, const std::function<double()>& y,
                          double limit) {
  double worst = 0, size = 0;
  for (int t = 0; t < x.rows(); ++t)
    for (int k = 0; k < x.columns(); ++k) {
      const float before = x(t, k);
      x(t, k) = before + 0x1p-7f;
      const double above = y(), high = x(t, k);
      x(t, k) = before - 0x1p-7f;
      const double slope = (above - y()) / (high - x(t, k));
      x(t, k) = before;
      worst = std::max(worst, std::abs(slope - gradient(t, k)));
      size = std::max(size, std::abs(slope));
    }
  EXPECT_GT(size, 0.01);
  EXPECT_LT(worst, limit * size);
}

}  // namespace headwater::kernel
