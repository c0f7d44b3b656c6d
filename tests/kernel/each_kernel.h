// What the kernel tests share: a run for each instruction set of this machine, numbers to feed the
// kernels, and the tolerance.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

namespace headwater::kernel {

/// Twice the widest vector of floats, and one more: sizes 0 ... this see every kind of remainder.
constexpr int past_two_vectors = 33;

/// All but the reference, which judges them.
inline std::span<const Kernels> fast_kernels() {
  return std::span(all_kernels()).first(all_kernels().size() - 1);
}

/// For TEST_P: one run of the test for each of fast_kernels(). A test may set the number of
/// threads.
class EachKernel : public testing::TestWithParam<Kernels> {
 protected:
  ~EachKernel() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

inline void PrintTo(const Kernels& kernels, std::ostream* to) { *to << kernels.name; }

#define HEADWATER_EACH_KERNEL(Suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::ValuesIn(fast_kernels()), \
                           [](const auto& info) { return info.param.name; })

inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::exponential_distribution<float> weight(1);
  std::vector<float> out(count);
  for (float& x : out) x = weight(bits);
  return out;
}

inline Matrix random_matrix(int rows, int columns, unsigned seed) {
  Matrix out(rows, columns);
  std::ranges::copy(random_floats(out.size(), seed), out.data());
  return out;
}

/// Keeps only first(i) <= j < last(i).
template <class First, class Last>
Matrix banded(Matrix matrix, const First& first, const Last& last) {
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.columns(); ++j)
      if (j < first(i) || j >= last(i)) matrix(i, j) = 0;
  return matrix;
}

/// The rule of style.md: at most twice the error of a plain float loop, plus 1e-7 of the value's
/// size.
inline void expect_as_good(double got, double plain, double exact, const char* what) {
  const double allowed = 2 * std::abs(plain - exact) + 1e-7 * std::max(1.0, std::abs(exact));
  EXPECT_LE(std::abs(got - exact), allowed) << what << ": " << got << " for " << exact;
}

inline bool same_bytes(MatrixView a, MatrixView b) {
  for (int i = 0; i < a.rows(); ++i)
    if (std::memcmp(a.row(i).data(), b.row(i).data(), a.row(i).size_bytes()) != 0) return false;
  return a.rows() == b.rows() && a.columns() == b.columns();
}

}  // namespace headwater::kernel
