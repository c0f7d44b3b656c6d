#include <span>

#include "tests/kernel/judge.h"

namespace headwater::kernel {
namespace {

void plain_layer_norm(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                      float epsilon, MatrixSpan out) {
  for (int t = 0; t < x.rows(); ++t) {
    float mean = 0, variance = 0;
    for (float value : x.row(t)) mean += value;
    mean /= static_cast<float>(x.columns());
    for (float value : x.row(t)) variance += (value - mean) * (value - mean);
    const float scale = 1 / std::sqrt(variance / static_cast<float>(x.columns()) + epsilon);
    for (int k = 0; k < x.columns(); ++k)
      out(t, k) = (x(t, k) - mean) * scale * weight[k] + (bias.empty() ? 0 : bias[k]);
  }
}

void plain_rms_norm(MatrixView x, std::span<const float> weight, float epsilon, MatrixSpan out) {
  for (int t = 0; t < x.rows(); ++t) {
    float square = 0;
    for (float value : x.row(t)) square += value * value;
    const float scale = 1 / std::sqrt(square / static_cast<float>(x.columns()) + epsilon);
    for (int k = 0; k < x.columns(); ++k) out(t, k) = x(t, k) * scale * weight[k];
  }
}

class Norm : public EachKernel {
 protected:
  void check(int rows, int columns) {
    const std::vector<float> weight = normal_floats(static_cast<size_t>(columns), 1);
    const std::vector<float> bias = normal_floats(static_cast<size_t>(columns), 2);
    const std::span<const float> added =
        columns % 2 == 0 ? std::span<const float>(bias) : std::span<const float>();
    Island x(rows, columns, 3);
    {
      Island got(rows, columns, 4);
      Matrix plain(rows, columns), exact(rows, columns);
      GetParam().network.layer_norm(x.span(), weight, added, 1e-5, got.span());
      plain_layer_norm(x.span(), weight, added, 1e-5f, plain);
      reference().network.layer_norm(x.span(), weight, added, 1e-5, exact);
      Judge judge;
      judge.see(got.span(), plain, exact);
      EXPECT_TRUE(judge.verdict()) << "layer norm of " << columns;
      EXPECT_TRUE(got.sea_is_calm());
    }
    Island got(rows, columns, 4);
    Matrix plain(rows, columns), exact(rows, columns);
    GetParam().network.rms_norm(x.span(), weight, 1e-6, got.span());
    plain_rms_norm(x.span(), weight, 1e-6f, plain);
    reference().network.rms_norm(x.span(), weight, 1e-6, exact);
    Judge judge;
    judge.see(got.span(), plain, exact);
    EXPECT_TRUE(judge.verdict()) << "rms norm of " << columns;
    EXPECT_TRUE(got.sea_is_calm());
  }
};

TEST_P(Norm, TakesEverySmallSize) {
  for (int n = 1; n <= past_two_vectors; ++n) check(3, n);
}

TEST_P(Norm, TakesUsualSizes) {
  for (int n : {64, 384, 768, 1001}) check(5, n);
}

TEST_P(Norm, MayWriteWhereItReads) {
  const std::vector<float> weight = normal_floats(37, 5);
  Matrix x = normal_matrix(4, 37, 6);
  Matrix apart(4, 37);
  GetParam().network.layer_norm(x, weight, weight, 1e-5, apart);
  GetParam().network.layer_norm(x, weight, weight, 1e-5, x);
  EXPECT_TRUE(same_bytes(x, apart));
  GetParam().network.rms_norm(x, weight, 1e-5, apart);
  GetParam().network.rms_norm(x, weight, 1e-5, x);
  EXPECT_TRUE(same_bytes(x, apart));
}

// A mean far from zero must not eat the digits of the differences.
TEST_P(Norm, KeepsSmallDifferencesOfLargeNumbers) {
  Matrix x(1, 100), got(1, 100), exact(1, 100);
  for (int k = 0; k < 100; ++k) x(0, k) = 4096 + static_cast<float>(k % 7) / 1024;
  const std::vector<float> weight(100, 1.0f);
  GetParam().network.layer_norm(x, weight, {}, 1e-12, got);
  reference().network.layer_norm(x, weight, {}, 1e-12, exact);
  for (int k = 0; k < 100; ++k) EXPECT_NEAR(got(0, k), exact(0, k), 1e-6);
}

class Rotate : public EachKernel {};

TEST_P(Rotate, RotatesPairsAndLeavesTheRest) {
  for (int half = 0; half <= past_two_vectors; ++half)
    for (int rest : {0, 3}) {
      const int rows = 3, heads = 2, size = 2 * half + rest;
      Island got(rows, heads * size, 1), exact(rows, heads * size, 1), plain(rows, heads * size, 1);
      Matrix cosine(rows, half), sine(rows, half);
      for (int t = 0; t < rows; ++t)
        for (int d = 0; d < half; ++d) {
          const float angle = static_cast<float>((t + 1) * (d + 2));
          cosine(t, d) = std::cos(angle);
          sine(t, d) = std::sin(angle);
        }
      GetParam().network.rotate(got.span(), heads, cosine, sine);
      reference().network.rotate(exact.span(), heads, cosine, sine);
      for (int t = 0; t < rows; ++t)
        for (int h = 0; h < heads; ++h)
          for (int d = 0; d < half; ++d) {
            float& a = plain.span()(t, h * size + d);
            float& b = plain.span()(t, h * size + d + half);
            const float before = a;
            a = a * cosine(t, d) - b * sine(t, d);
            b = b * cosine(t, d) + before * sine(t, d);
          }
      Judge judge;
      judge.see(got.span(), plain.span(), exact.span());
      EXPECT_TRUE(judge.verdict()) << half << " pairs and " << rest;
      EXPECT_TRUE(got.sea_is_calm());
      for (int t = 0; t < rows; ++t)
        for (int k = size - rest; k < size; ++k) EXPECT_EQ(got.span()(t, k), exact.span()(t, k));
    }
}

HEADWATER_EACH_KERNEL(Norm);
HEADWATER_EACH_KERNEL(Rotate);

}  // namespace
}  // namespace headwater::kernel
