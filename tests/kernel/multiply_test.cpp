#include <array>

#include "headwater/core/threads.h"
#include "tests/kernel/each_kernel.h"

namespace headwater::kernel {
namespace {

class Multiply : public EachKernel {
 protected:
  // The product by the kernel, judged by double sums. The plain loop's error is the largest of the
  // matrix: of one number alone it may be zero by luck. Large matrices are judged by every fifth
  // row, which comes to every place of a panel.
  void check(MatrixView a, MatrixView b, MatrixSpan out) {
    GetParam().maps.multiply(a, b, out);
    double plain_error = 0, error = 0, size = 1;
    for (int i = 0; i < out.rows(); i += out.rows() < 100 ? 1 : 5) {
      std::vector<double> exact(out.row(i).size());
      std::vector<float> plain(out.row(i).size());
      for (int k = 0; k < a.columns(); ++k) {
        const float* row = b.row(k).data();
        const float weight = a(i, k);
        for (size_t j = 0; j < exact.size(); ++j) {
          exact[j] += double{weight} * row[j];
          plain[j] += weight * row[j];
        }
      }
      for (size_t j = 0; j < exact.size(); ++j) {
        plain_error = std::max(plain_error, std::abs(plain[j] - exact[j]));
        error = std::max(error, std::abs(out.row(i)[j] - exact[j]));
        size = std::max(size, std::abs(exact[j]));
      }
    }
    ASSERT_LE(error, 2 * plain_error + 1e-7 * size)
        << a.rows() << " x " << a.columns() << " times " << b.rows() << " x " << b.columns();
  }
  void check(MatrixView a, MatrixView b) {
    Matrix out(a.rows(), b.columns());
    std::fill_n(out.data(), out.size(), 7.0f);  // what was there before must not matter
    check(a, b, out);
  }
};

TEST_P(Multiply, TakesEverySmallSize) {
  for (int n = 0; n <= past_two_vectors; ++n) {
    check(random_matrix(n, n, 1), random_matrix(n, n, 2));
    check(random_matrix(n, 5, 1), random_matrix(5, 3, 2));
    check(random_matrix(3, n, 1), random_matrix(n, 5, 2));
    check(random_matrix(5, 3, 1), random_matrix(3, n, 2));
  }
}

TEST_P(Multiply, TakesSizesAcrossPanelsTasksAndSlabs) {
  for (const auto& [m, k, n] :
       {std::array{197, 197, 197}, std::array{64, 1100, 50}, std::array{1, 513, 300},
        std::array{300, 1, 257}, std::array{130, 512, 1}, std::array{255, 1025, 33}})
    check(random_matrix(m, k, 3), random_matrix(k, n, 4));
}

TEST_P(Multiply, TakesRowsThatLieApart) {
  const int n = 37;
  const Matrix a = random_matrix(n, n + 5, 5), b = random_matrix(n, n + 9, 6);
  Matrix out = random_matrix(n, n + 3, 7);
  const Matrix before = out.copy();
  const MatrixView left(a.data() + 1, n, n, n + 5), right(b.data() + 3, n, n, n + 9);
  check(left, right, MatrixSpan(out.data() + 1, n, n, n + 3));
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(out(i, 0), before(i, 0));
    EXPECT_EQ(out(i, n + 1), before(i, n + 1));
    EXPECT_EQ(out(i, n + 2), before(i, n + 2));
  }
}

TEST_P(Multiply, KeepsLowerTimesLowerExactlyLower) {
  for (int n : {1, 2, 16, 33, 100, 197, 600}) {
    const auto from_first = [](int) { return 0; };
    const auto to_diagonal = [](int i) { return i + 1; };
    const Matrix a = banded(random_matrix(n, n, 8), from_first, to_diagonal);
    const Matrix b = banded(random_matrix(n, n, 9), from_first, to_diagonal);
    Matrix out(n, n);
    std::fill_n(out.data(), out.size(), 7.0f);
    check(a, b, out);
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) ASSERT_EQ(out(i, j), 0) << i << " " << j;
  }
}

TEST_P(Multiply, TakesBandsAndHoles) {
  const int n = 200;
  const auto all = [](int) { return n; };
  const auto none = [](int) { return 0; };
  const auto diagonal = [](int i) { return i; };
  const auto near = [](int i) { return i - 20; };
  const auto far = [](int i) { return i + 20; };
  const auto every_third = [](int i) { return i % 3 == 0 ? n : 0; };
  const Matrix full = random_matrix(n, n, 10);
  const Matrix upper = banded(random_matrix(n, n, 11), diagonal, all);
  const Matrix band = banded(random_matrix(n, n, 12), near, far);
  const Matrix holes = banded(random_matrix(n, n, 13), none, every_third);
  const Matrix zero(n, n);
  const MatrixView cases[] = {full, upper, band, holes, zero};
  for (MatrixView a : cases)
    for (MatrixView b : cases) check(a, b);
}

TEST_P(Multiply, GivesTheSameBytesForEveryNumberOfThreads) {
  for (const auto& [m, k, n] :
       {std::array{200, 200, 200}, std::array{129, 1100, 77}, std::array{40, 40, 40}}) {
    const Matrix a = random_matrix(m, k, 14);
    const Matrix b = random_matrix(k, n, 15);
    Matrix one(m, n);
    set_threads(1);
    GetParam().maps.multiply(a, b, one);
    for (int count : {2, 3, 5}) {
      Matrix several(m, n);
      set_threads(count);
      GetParam().maps.multiply(a, b, several);
      EXPECT_TRUE(same_bytes(one, several)) << count << " threads";
    }
  }
}

HEADWATER_EACH_KERNEL(Multiply);

}  // namespace
}  // namespace headwater::kernel
