#include "tests/kernel/each_kernel.h"

namespace headwater::kernel {
namespace {

// What a plain loop in float gives, to know how far off it is.
void plain_prepare(MatrixSpan rows, int first, const RowStep& step) {
  for (int r = 0; r < rows.rows(); ++r) {
    float sum = 0;
    for (int j = 0; j < rows.columns(); ++j) {
      float& x = rows(r, j);
      if (x < step.threshold) x = 0;
      x = static_cast<float>(1 - step.residual) * x;
      if (j == first + r) x += static_cast<float>(step.residual);
      sum += x;
    }
    if (step.divide && sum > 0)
      for (float& x : rows.row(r)) x /= sum;
    if (step.divide && sum == 0 && step.empty_keeps) rows(r, first + r) = 1;
  }
}

class PrepareRows : public EachKernel {
 protected:
  void check(MatrixView map, int first, int count, const RowStep& step) {
    const auto some = [&] {
      Matrix copy(count, map.columns());
      for (int r = 0; r < count; ++r) std::ranges::copy(map.row(first + r), copy.row(r).begin());
      return copy;
    };
    Matrix got = some(), plain = some(), exact = some();
    const int empty = GetParam().maps.prepare_rows(got, first, step);
    EXPECT_EQ(empty, reference().maps.prepare_rows(exact, first, step));
    plain_prepare(plain, first, step);
    double error = 0, plain_error = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      error = std::max(error, std::abs(double{got.data()[i]} - exact.data()[i]));
      plain_error = std::max(plain_error, std::abs(double{plain.data()[i]} - exact.data()[i]));
    }
    EXPECT_LE(error, 2 * plain_error + 1e-7) << "n " << map.columns();
  }
};

TEST_P(PrepareRows, AgreesWithTheReference) {
  for (int n = 0; n <= 4 * past_two_vectors; n += n < past_two_vectors ? 1 : 13) {
    const Matrix map = random_matrix(n, n, static_cast<unsigned>(n));
    for (float threshold : {0.0f, 0.7f, 100.0f})
      for (double residual : {0.0, 0.5, 0.9})
        for (bool divide : {false, true})
          for (bool keeps : {false, true}) {
            const RowStep step{threshold, residual, divide, keeps};
            check(map, 0, n, step);
            check(map, n / 3, n / 2, step);
          }
  }
}

TEST_P(PrepareRows, DropsOnlyWhatIsStrictlyBelowTheThreshold) {
  Matrix map(2, 2);
  map(0, 0) = map(1, 0) = 0.25f;
  map(0, 1) = map(1, 1) = 0.75f;
  GetParam().maps.prepare_rows(map, 0, {.threshold = 0.75f, .divide = false});
  EXPECT_EQ(map(0, 0), 0);
  EXPECT_EQ(map(0, 1), 0.75f);
}

TEST_P(PrepareRows, GivesAnEmptyRowToItsTokenOrLeavesItZero) {
  const int n = past_two_vectors;
  for (bool keeps : {true, false}) {
    Matrix map = random_matrix(n, n, 1);
    std::ranges::fill(map.row(5), 0.0f);
    std::ranges::fill(map.row(n - 1), -0.0f);
    EXPECT_EQ(GetParam().maps.prepare_rows(map, 0, {.empty_keeps = keeps}), 2);
    for (int i : {5, n - 1})
      for (int j = 0; j < n; ++j) EXPECT_EQ(map(i, j), keeps && i == j ? 1 : 0);
  }
  Matrix map(n, n);
  EXPECT_EQ(GetParam().maps.prepare_rows(map, 0, {.divide = false}), 0);
  EXPECT_EQ(GetParam().maps.prepare_rows(map, 0, {.residual = 0.5}), 0);
}

TEST_P(PrepareRows, MakesRowsThatSumToOneFromAnySum) {
  for (float size : {1e-40f, 1e-38f, 1e-30f, 1e-3f, 1.0f, 1e3f, 1e30f, 1e38f}) {
    const int n = 40;
    Matrix map(n, n);
    for (size_t i = 0; i < map.size(); ++i) map.data()[i] = i % 3 == 0 ? 0 : size;
    ASSERT_EQ(GetParam().maps.prepare_rows(map, 0, {}), 0);
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (float x : map.row(i)) sum += x;
      EXPECT_NEAR(sum, 1, 1e-6) << size;
    }
  }
}

HEADWATER_EACH_KERNEL(PrepareRows);

class AddRows : public EachKernel {};

TEST_P(AddRows, AgreesWithTheReference) {
  for (int rows : {0, 1, 2, 7, 8, 9, 17, 64})
    for (int n = 0; n <= 4 * past_two_vectors; n += n < past_two_vectors ? 1 : 13) {
      const Matrix block = random_matrix(rows, n + 3, 1);
      const MatrixView view(block.data() + 1, rows, n, n + 3);
      std::vector<float> weights = random_floats(static_cast<size_t>(rows), 2);
      for (size_t r = 0; r < weights.size(); ++r)
        if (r >= 20 && r < 40) weights[r] = 0;
      std::vector<float> got(static_cast<size_t>(n), 7.0f), exact(got);
      GetParam().maps.add_rows(weights, view, got);
      reference().maps.add_rows(weights, view, exact);
      double error = 0, plain_error = 0, size = 1;
      for (int j = 0; j < n; ++j) {
        float plain = 0;
        for (int r = 0; r < rows; ++r) plain += weights[static_cast<size_t>(r)] * view(r, j);
        const double want = exact[static_cast<size_t>(j)];
        error = std::max(error, std::abs(got[static_cast<size_t>(j)] - want));
        plain_error = std::max(plain_error, std::abs(plain - want));
        size = std::max(size, want);
      }
      EXPECT_LE(error, 2 * plain_error + 1e-7 * size) << rows << " rows of " << n;
    }
}

HEADWATER_EACH_KERNEL(AddRows);

}  // namespace
}  // namespace headwater::kernel
