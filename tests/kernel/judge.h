// What the tests of the forward and backward pass share: numbers to feed the kernels, matrices with
// neighbours, and the tolerance for a whole result.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "tests/kernel/each_kernel.h"

namespace headwater::kernel {

/// Numbers of both signs, most of them below 3.
inline std::vector<float> normal_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> out(count);
  for (float& x : out) x = normal(bits);
  return out;
}

inline Matrix normal_matrix(int rows, int columns, unsigned seed) {
  Matrix out(rows, columns);
  std::ranges::copy(normal_floats(out.size(), seed), out.data());
  return out;
}

/// A matrix in the middle of a larger one: rows that lie apart, off every alignment, between
/// numbers that must stay as they are.
class Island {
 public:
  Island(int rows, int columns, unsigned seed)
      : sea_(normal_matrix(rows + 1, columns + 5, seed)),
        before_(sea_.copy()),
        rows_(rows),
        columns_(columns) {}
  MatrixSpan span() { return {sea_.data() + 3, rows_, columns_, columns_ + 5}; }
  bool sea_is_calm() const {
    for (size_t i = 0; i < sea_.size(); ++i) {
      const auto width = static_cast<size_t>(columns_) + 5;
      const size_t row = (i + width - 3) / width - 1, column = (i + width - 3) % width;
      const bool inside =
          i >= 3 && row < static_cast<size_t>(rows_) && column < static_cast<size_t>(columns_);
      if (!inside && sea_.data()[i] != before_.data()[i]) return false;
    }
    return true;
  }

 private:
  Matrix sea_, before_;
  int rows_, columns_;
};

/// The largest error of a kernel against that of a plain float loop, over all numbers of a result:
/// of one number alone the plain loop's error may be zero by luck.
class Judge {
 public:
  void see(double got, double plain, double exact) {
    if (std::isnan(got - exact)) nan_ = true;
    error_ = std::max(error_, std::abs(got - exact));
    plain_error_ = std::max(plain_error_, std::abs(plain - exact));
    size_ = std::max(size_, std::abs(exact));
  }
  void see(MatrixView got, MatrixView plain, MatrixView exact) {
    for (int i = 0; i < exact.rows(); ++i)
      for (int j = 0; j < exact.columns(); ++j) see(got(i, j), plain(i, j), exact(i, j));
  }
  testing::AssertionResult verdict() const {
    if (!nan_ && error_ <= 2 * plain_error_ + 1e-7 * size_) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "error " << error_ << ", of a plain loop " << plain_error_ << ", of numbers up to "
           << size_ << (nan_ ? ", and NaN" : "");
  }

 private:
  double error_ = 0, plain_error_ = 0, size_ = 1;
  bool nan_ = false;
};

}  // namespace headwater::kernel
