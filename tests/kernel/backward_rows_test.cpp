// Derivatives of norms, activations and gates: the reference against differences of the forward
// operations, and every instruction set against the reference.
#include "headwater/kernel/backward.h"
#include "tests/kernel/slopes.h"

namespace headwater::kernel {
namespace {

constexpr std::array<Activation, 7> activations = {
    Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
    Activation::relu, Activation::silu, Activation::tanh};

TEST(BackwardReference, NormsHaveTheSlopesOfTheirDifferences) {
  Matrix x = normal_matrix(3, 9, 1), out(3, 9), dx(3, 9);
  const Matrix weights = normal_matrix(3, 9, 2);
  const std::vector<float> weight = normal_floats(9, 3), bias = normal_floats(9, 4);
  reference().backward.layer_norm(x, weight, 1e-5, Slope::tangent, weights, Into::store, dx);
  expect_slopes(
      x, dx,
      [&] {
        reference().network.layer_norm(x, weight, bias, 1e-5, out);
        return total(out, weights);
      },
      1e-3);
  reference().backward.rms_norm(x, weight, 1e-5, Slope::tangent, weights, Into::store, dx);
  expect_slopes(
      x, dx,
      [&] {
        reference().network.rms_norm(x, weight, 1e-5, out);
        return total(out, weights);
      },
      1e-3);
}

TEST(BackwardReference, ActivationsHaveTheSlopesOfTheirDifferences) {
  const std::vector<float> one = {1};
  const Weights identity{DType::f32, reinterpret_cast<const std::byte*>(one.data()), 1, 1, false};
  for (Activation activation : activations) {
    Matrix x(9, 1), out(9, 1), gradient(9, 1), weights(9, 1);
    for (int t = 0; t < 9; ++t) {
      x(t, 0) = static_cast<float>(t) - 4.1f;
      weights(t, 0) = gradient(t, 0) = 1;
    }
    reference().backward.activation(x, activation, Slope::tangent, gradient);
    expect_slopes(
        x, gradient,
        [&] {
          reference().network.linear(x, identity, {{}, activation, {}}, out);
          return total(out, weights);
        },
        1e-3);
  }
}

TEST(BackwardReference, GatedUnitsHaveTheSlopesOfTheirDifferences) {
  Matrix gate = normal_matrix(3, 5, 1), up = normal_matrix(3, 5, 2), out(3, 5);
  const Matrix weights = normal_matrix(3, 5, 3);
  const std::vector<float> rows = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1,
                                   0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
  const Weights identity{DType::f32, reinterpret_cast<const std::byte*>(rows.data()), 5, 5, false};
  const auto y = [&] {
    reference().network.linear(gate, identity, {{}, Activation::silu, {}}, out);
    reference().network.linear(up, identity, {{}, {}, Into::multiply}, out);
    return total(out, weights);
  };
  Matrix d_gate = gate.copy(), d_up = up.copy();
  reference().backward.gated(Activation::silu, Slope::tangent, weights, d_gate, d_up);
  expect_slopes(gate, d_gate, y, 1e-3);
  expect_slopes(up, d_up, y, 1e-3);
}

// f(x) / x times x is f(x): the secant loses nothing, and none of it is cut off at 0.
TEST(BackwardReference, SecantsTakeTheInputToTheOutput) {
  const std::vector<float> one = {1};
  const Weights identity{DType::f32, reinterpret_cast<const std::byte*>(one.data()), 1, 1, false};
  for (const Activation activation : activations) {
    Matrix x(9, 1), out(9, 1), slope(9, 1);
    for (int t = 0; t < 9; ++t) {
      x(t, 0) = static_cast<float>(t - 4);
      slope(t, 0) = 1;
    }
    reference().backward.activation(x, activation, Slope::secant, slope);
    reference().network.linear(x, identity, {{}, activation, {}}, out);
    for (int t = 0; t < 9; ++t) EXPECT_NEAR(slope(t, 0) * x(t, 0), out(t, 0), 1e-6);
    const float at_zero = activation == Activation::relu                                     ? 0
                          : activation == Activation::none || activation == Activation::tanh ? 1
                                                                                             : 0.5f;
    EXPECT_EQ(slope(4, 0), at_zero);
  }
  const Matrix x = normal_matrix(3, 9, 1), weights = normal_matrix(3, 9, 2);
  const std::vector<float> weight = normal_floats(9, 3);
  Matrix out(3, 9), dx(3, 9);
  for (const bool centred : {true, false}) {
    if (centred) {
      reference().network.layer_norm(x, weight, {}, 1e-5, out);
      reference().backward.layer_norm(x, weight, 1e-5, Slope::secant, weights, Into::store, dx);
    } else {
      reference().network.rms_norm(x, weight, 1e-5, out);
      reference().backward.rms_norm(x, weight, 1e-5, Slope::secant, weights, Into::store, dx);
    }
    EXPECT_NEAR(total(dx, x), total(out, weights), 1e-5);
  }
  Matrix gate = normal_matrix(3, 9, 4), up = normal_matrix(3, 9, 5);
  const Matrix g = gate.copy(), u = up.copy();
  reference().backward.gated(Activation::silu, Slope::secant, weights, gate, up);
  EXPECT_NEAR(total(gate, g), total(up, u), 1e-5);
  for (int t = 0; t < 3; ++t)
    for (int k = 0; k < 9; ++k) out(t, k) = u(t, k) * g(t, k) / (1 + std::exp(-g(t, k)));
  EXPECT_NEAR(total(gate, g) + total(up, u), total(out, weights), 1e-5);
}

TEST(Turned, IsTheMapTheOtherWayRound) {
  const std::vector<float> numbers = normal_floats(6, 1);
  for (bool input_major : {false, true}) {
    const Weights weights{DType::f32, reinterpret_cast<const std::byte*>(numbers.data()), 2, 3,
                          input_major};
    const Matrix x = normal_matrix(1, 3, 2), g = normal_matrix(1, 2, 3);
    Matrix out(1, 2), back(1, 3);
    reference().network.linear(x, weights, {}, out);
    reference().network.linear(g, transposed(weights), {}, back);
    EXPECT_NEAR(total(out, g), total(back, x), 1e-6);
  }
}

class BackwardRowsKernel : public EachKernel {};

TEST_P(BackwardRowsKernel, NormsAreAsGoodAsAPlainLoop) {
  for (int columns = 1; columns <= 200; columns += columns < past_two_vectors ? 1 : 67)
    for (Into into : {Into::store, Into::add})
      for (bool centred : {true, false}) {
        const std::vector<float> weight = normal_floats(static_cast<size_t>(columns), 1);
        Island x(3, columns, 2), g(3, columns, 3), got(3, columns, 4), plain(3, columns, 4),
            exact(3, columns, 4);
        const Slope slope = columns % 2 == 0 ? Slope::secant : Slope::tangent;
        const auto run = [&](const BackwardKernels& kernels, MatrixSpan dx) {
          (centred ? kernels.layer_norm : kernels.rms_norm)(x.span(), weight, 1e-5, slope, g.span(),
                                                            into, dx);
        };
        run(GetParam().backward, got.span());
        run(reference().backward, exact.span());
        for (int t = 0; t < 3; ++t) {
          float mean = 0, square = 0, sum = 0, along = 0;
          const auto count = static_cast<float>(columns);
          for (int k = 0; k < columns && centred; ++k) mean += x.span()(t, k) / count;
          for (int k = 0; k < columns; ++k)
            square += (x.span()(t, k) - mean) * (x.span()(t, k) - mean) / count;
          const float scale = 1 / std::sqrt(square + 1e-5f);
          for (int k = 0; k < columns; ++k) {
            if (centred) sum += g.span()(t, k) * weight[k] / count;
            along += g.span()(t, k) * weight[k] * (x.span()(t, k) - mean) * scale / count;
          }
          if (slope == Slope::secant) along = 0;
          for (int k = 0; k < columns; ++k) {
            const float z = (x.span()(t, k) - mean) * scale;
            const float dx = scale * (g.span()(t, k) * weight[k] - sum - z * along);
            plain.span()(t, k) = into == Into::add ? plain.span()(t, k) + dx : dx;
          }
        }
        Judge judge;
        judge.see(got.span(), plain.span(), exact.span());
        EXPECT_TRUE(judge.verdict()) << columns << " columns";
        EXPECT_TRUE(got.sea_is_calm());
      }
}

TEST_P(BackwardRowsKernel, ActivationsAreWithinRounding) {
  for (const Activation activation : activations)
    for (const Slope slope : {Slope::tangent, Slope::secant})
      for (int columns = 1; columns <= 1500; columns += columns < past_two_vectors ? 1 : 700) {
        Island x(2, columns, 1), got(2, columns, 2), exact(2, columns, 2);
        for (int t = 0; t < 2; ++t)
          for (int k = 0; k < columns; ++k)
            x.span()(t, k) = t == 0 ? x.span()(t, k) * 5 : static_cast<float>(k - columns / 2) / 40;
        GetParam().backward.activation(x.span(), activation, slope, got.span());
        reference().backward.activation(x.span(), activation, slope, exact.span());
        for (int t = 0; t < 2; ++t)
          for (int k = 0; k < columns; ++k)
            ASSERT_NEAR(got.span()(t, k), exact.span()(t, k), 2e-6)
                << static_cast<int>(activation) << " at " << x.span()(t, k);
        EXPECT_TRUE(got.sea_is_calm());
        Island gate(2, columns, 3), up(2, columns, 4), gate2(2, columns, 3), up2(2, columns, 4);
        GetParam().backward.gated(activation, slope, x.span(), gate.span(), up.span());
        reference().backward.gated(activation, slope, x.span(), gate2.span(), up2.span());
        for (int t = 0; t < 2; ++t)
          for (int k = 0; k < columns; ++k) {
            ASSERT_NEAR(gate.span()(t, k), gate2.span()(t, k), 4e-5);
            ASSERT_NEAR(up.span()(t, k), up2.span()(t, k), 4e-5);
          }
        EXPECT_TRUE(gate.sea_is_calm() && up.sea_is_calm());
      }
}

TEST_P(BackwardRowsKernel, WhatABiasTakesIsSummedInDouble) {
  for (int columns = 1; columns <= 200; columns += columns < past_two_vectors ? 1 : 67) {
    const std::vector<float> weight = normal_floats(static_cast<size_t>(columns), 1);
    Island x(5, columns, 2);
    const double exact = reference().backward.weighted_sum(x.span(), weight);
    EXPECT_NEAR(GetParam().backward.weighted_sum(x.span(), weight), exact, 1e-12 * columns);
    EXPECT_TRUE(x.sea_is_calm());
  }
  EXPECT_EQ(GetParam().backward.weighted_sum(MatrixView(nullptr, 0, 0), {}), 0);
}

HEADWATER_EACH_KERNEL(BackwardRowsKernel);

}  // namespace
}  // namespace headwater::kernel
