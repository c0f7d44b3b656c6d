// Derivatives: the reference against differences of the forward operations, in double where they
// are, and every instruction set against the reference.
#include "headwater/kernel/backward.h"

#include <functional>
#include <limits>

#include "tests/kernel/judge.h"

namespace headwater::kernel {
namespace {

constexpr std::array<Activation, 7> activations = {
    Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
    Activation::relu, Activation::silu, Activation::tanh};

// sum of out (x) weights: the number that is differentiated.
double total(MatrixView out, MatrixView weights) {
  double sum = 0;
  for (int t = 0; t < out.rows(); ++t)
    for (int k = 0; k < out.columns(); ++k) sum += double{out(t, k)} * weights(t, k);
  return sum;
}

// Central differences of y in every entry of x. Results are floats, so the step is wide and the
// limit is what rounding leaves.
void expect_slopes(MatrixSpan x, MatrixView gradient, const std::function<double()>& y,
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

struct AttendedShape {
  int n, size, heads, groups;
  Sight sight;
  bool distances = false;
};

// Queries, keys and values side by side, and the gradient of the output.
struct AttendedInput {
  explicit AttendedInput(const AttendedShape& shape, unsigned seed = 1)
      : rows(shape.n, (shape.heads + 2 * shape.groups) * shape.size, seed),
        gradient(shape.n, shape.heads * shape.size, seed + 1),
        distances(shape.heads, 2 * shape.n - 1, seed + 2) {
    attention = {part(shape, rows.span(), 0),
                 part(shape, rows.span(), 1),
                 part(shape, rows.span(), 2),
                 shape.heads,
                 shape.groups,
                 1 / std::sqrt(static_cast<float>(shape.size)),
                 shape.sight};
    if (shape.distances) attention.distances = distances.span();
  }
  static MatrixSpan part(const AttendedShape& shape, MatrixSpan rows, int k) {
    const int queries = shape.heads * shape.size, keys = shape.groups * shape.size;
    const int first = k == 0 ? 0 : queries + (k - 1) * keys;
    return {rows.data() + first, rows.rows(), k == 0 ? queries : keys, rows.stride()};
  }
  Island rows, gradient, distances;
  Attention attention;
};

struct Output {
  explicit Output(const AttendedShape& shape)
      : rows(shape.n, (shape.heads + 2 * shape.groups) * shape.size, 7), map(shape.n, shape.n, 8) {}
  AttentionGradient parts(const AttendedShape& shape) {
    return {AttendedInput::part(shape, rows.span(), 0), AttendedInput::part(shape, rows.span(), 1),
            AttendedInput::part(shape, rows.span(), 2)};
  }
  Island rows, map;
};

TEST(BackwardReference, AttentionHasTheSlopesOfItsDifferences) {
  for (const AttendedShape& shape :
       {AttendedShape{5, 3, 4, 2, {}}, AttendedShape{6, 4, 2, 2, {true, 0, 0}},
        AttendedShape{7, 3, 2, 1, {true, 3, 0}}, AttendedShape{6, 3, 2, 1, {}, true}}) {
    AttendedInput input(shape);
    Output found(shape);
    reference().backward.attention(input.attention, input.gradient.span(), {}, found.parts(shape),
                                   {});
    Matrix out(shape.n, shape.heads * shape.size);
    for (int k = 0; k < 3; ++k)
      expect_slopes(
          AttendedInput::part(shape, input.rows.span(), k),
          AttendedInput::part(shape, found.rows.span(), k),
          [&] {
            reference().network.attention(input.attention, out, {});
            return total(out, input.gradient.span());
          },
          2e-3);
  }
}

// By hand: one head of size one, queries 0, so that P = (1/2, 1/2) in both rows; dP = dO v.
TEST(BackwardReference, MapIsThePositivePartOfAttentionTimesItsGradient) {
  const std::vector<float> queries = {0, 0}, keys = {1, 2}, values = {3, -1}, gradient = {2, -4};
  std::vector<float> dq(2), dk(2), dv(2), map(4);
  const Attention in{MatrixView(queries.data(), 2, 1),
                     MatrixView(keys.data(), 2, 1),
                     MatrixView(values.data(), 2, 1),
                     1,
                     1,
                     1,
                     {}};
  reference().backward.attention(
      in, MatrixView(gradient.data(), 2, 1), {},
      {MatrixSpan(dq.data(), 2, 1), MatrixSpan(dk.data(), 2, 1), MatrixSpan(dv.data(), 2, 1)},
      {Reduce::sum, 1, 0, 1, MatrixSpan(map.data(), 2, 2)});
  EXPECT_EQ(map, (std::vector<float>{3, 0, 0, 2}));
  EXPECT_EQ(dv, (std::vector<float>{-1, -1}));
  EXPECT_EQ(dq, (std::vector<float>{-2, 4}));
  EXPECT_EQ(dk, (std::vector<float>{0, 0}));
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

// The same in float, as people write it first.
void plain_attention_backward(const AttendedShape& shape, const Attention& in, MatrixView gradient,
                              const AttentionRule& rule, const AttentionGradient& out,
                              const HeadMap& fused) {
  for (MatrixSpan part : {out.queries, out.keys, out.values})
    if (rule.scores != 0 || part.data() == out.values.data())
      for (int t = 0; t < part.rows(); ++t) std::ranges::fill(part.row(t), 0.0f);
  for (int r = 0; r < shape.n; ++r)
    for (int h = 0; h < shape.heads; ++h) {
      const int q = h * shape.size, k = h / (shape.heads / shape.groups) * shape.size;
      const int end = in.sight.causal ? r + 1 : shape.n;
      const int begin = in.sight.window > 0 ? std::max(0, end - in.sight.window) : 0;
      std::vector<float> p(static_cast<size_t>(shape.n)), dp(p.size());
      float largest = -std::numeric_limits<float>::infinity(), sum = 0, along = 0;
      for (int j = begin; j < end; ++j) {
        for (int d = 0; d < shape.size; ++d) {
          p[j] += in.queries(r, q + d) * in.keys(j, k + d);
          dp[j] += gradient(r, q + d) * in.values(j, k + d);
        }
        p[j] *= in.scale;
        if (in.distances.rows() > 0) p[j] += in.distances(h, j - r + shape.n - 1);
        largest = std::max(largest, p[j]);
      }
      for (int j = begin; j < end; ++j) sum += p[j] = std::exp(p[j] - largest);
      for (float& one : p) one /= sum;
      for (int j = begin; j < end; ++j) along += p[j] * dp[j];
      for (int j = begin; j < end; ++j)
        for (int d = 0; d < shape.size; ++d) {
          const float ds = rule.scores * in.scale * p[j] * (dp[j] - along);
          if (rule.scores != 0) {
            out.queries(r, q + d) += ds * in.keys(j, k + d);
            out.keys(j, k + d) += ds * in.queries(r, q + d);
          }
          out.values(j, k + d) += rule.values * p[j] * gradient(r, q + d);
        }
      const int place = h - fused.first_head;
      if (place < 0 || place >= fused.count) continue;
      for (int j = 0; j < shape.n; ++j) {
        const float product = p[j] * dp[j];
        const float here = fused.weight * (rule.positive ? std::max(0.0f, product) : product);
        float& old = fused.map(r, j);
        if (place == 0)
          old = here;
        else if (fused.reduce == Reduce::sum)
          old += here;
        else
          old = fused.reduce == Reduce::max ? std::max(old, here) : std::min(old, here);
      }
    }
}

class BackwardKernel : public EachKernel {
 protected:
  void TearDown() override {
    EXPECT_TRUE(rows_.verdict());
    EXPECT_TRUE(map_.verdict()) << "map";
  }

  void check(const AttendedShape& shape, HeadMap fused, const AttentionRule& rule = {}) {
    AttendedInput input(shape);
    Output got(shape), plain(shape), exact(shape);
    fused.map = got.map.span();
    GetParam().backward.attention(input.attention, input.gradient.span(), rule, got.parts(shape),
                                  fused);
    fused.map = plain.map.span();
    plain_attention_backward(shape, input.attention, input.gradient.span(), rule,
                             plain.parts(shape), fused);
    fused.map = exact.map.span();
    reference().backward.attention(input.attention, input.gradient.span(), rule, exact.parts(shape),
                                   fused);
    rows_.see(got.rows.span(), plain.rows.span(), exact.rows.span());
    map_.see(got.map.span(), plain.map.span(), exact.map.span());
    EXPECT_TRUE(got.rows.sea_is_calm() && got.map.sea_is_calm())
        << shape.n << " size " << shape.size << " heads " << shape.heads << "/" << shape.groups
        << " causal " << shape.sight.causal << " window " << shape.sight.window;
  }
  void check(const AttendedShape& shape) { check(shape, {Reduce::sum, 0.25f, 0, shape.heads, {}}); }

 private:
  Judge rows_, map_;  // of all shapes: of one alone the plain loop's may be small by luck
};

TEST_P(BackwardKernel, AttentionTakesEverySmallSize) {
  for (int n = 1; n <= past_two_vectors; ++n) {
    check({n, 5, 2, 1, {}});
    check({n, 4, 2, 2, {true, 0, 0}});
    check({n, 3, 3, 1, {true, 4, 0}});
    check({9, n, 2, 2, {}});
  }
}

TEST_P(BackwardKernel, AttentionAddsWhatDistancesAdd) {
  for (int n = 1; n <= past_two_vectors; ++n) check({n, 5, 2, 1, {}, true});
  check({400, 16, 2, 1, {}, true});
  check({90, 12, 4, 2, {true, 20, 0}, true});
}

TEST_P(BackwardKernel, AttentionTakesSizesAcrossSlabsAndStretches) {
  check({400, 16, 2, 1, {}});
  check({450, 12, 4, 2, {true, 0, 0}});
  check({800, 8, 2, 2, {true, 100, 0}});
  check({40, 400, 1, 1, {}});
  check({300, 33, 6, 3, {}});
}

TEST_P(BackwardKernel, AttentionJoinsTheHeadsThatAreAskedFor) {
  for (Reduce reduce : {Reduce::sum, Reduce::max, Reduce::min}) {
    check({30, 6, 6, 3, {true, 0, 0}}, {reduce, 0.5f, 0, 6, {}});
    check({30, 6, 6, 3, {}}, {reduce, 1, 2, 3, {}});
    check({30, 6, 6, 3, {}}, {reduce, 1, 5, 1, {}});
  }
}

// What a rule does not compute stays as it was, in every implementation.
TEST_P(BackwardKernel, AttentionFollowsTheRule) {
  for (const AttentionRule& rule :
       {AttentionRule{0, 1, true}, AttentionRule{0, 1, false}, AttentionRule{0.25f, 0.5f, false}}) {
    for (int n = 1; n <= past_two_vectors; n += 3) {
      check({n, 5, 2, 1, {}}, {Reduce::sum, 1, 0, 2, {}}, rule);
      check({n, 4, 2, 2, {true, 0, 0}}, {Reduce::max, 1, 0, 2, {}}, rule);
    }
    check({450, 12, 4, 2, {true, 100, 0}}, {Reduce::sum, 1, 1, 3, {}}, rule);
    check({400, 16, 2, 1, {}}, {Reduce::sum, 1, 0, 0, {}}, rule);
  }
}

TEST_P(BackwardKernel, FrozenAttentionNeedsNoMapAndNoPlaceForScores) {
  const AttendedShape shape{420, 8, 4, 2, {true, 0, 0}};
  AttendedInput input(shape);
  Output with(shape), without(shape);
  GetParam().backward.attention(input.attention, input.gradient.span(), {0, 1, false},
                                with.parts(shape), {Reduce::sum, 1, 0, 4, with.map.span()});
  AttentionGradient parts = without.parts(shape);
  const MatrixSpan values = parts.values;
  parts.queries = parts.keys = {};
  GetParam().backward.attention(input.attention, input.gradient.span(), {0, 1, false}, parts, {});
  EXPECT_TRUE(same_bytes(AttendedInput::part(shape, with.rows.span(), 2), values));
}

TEST_P(BackwardKernel, AttentionGivesTheSameBytesForEveryNumberOfThreads) {
  const AttendedShape shape{500, 32, 6, 2, {}};
  AttendedInput input(shape);
  Output one(shape);
  set_threads(1);
  GetParam().backward.attention(input.attention, input.gradient.span(), {}, one.parts(shape),
                                {Reduce::sum, 1, 0, 6, one.map.span()});
  for (int count : {2, 3, 5}) {
    Output several(shape);
    set_threads(count);
    GetParam().backward.attention(input.attention, input.gradient.span(), {}, several.parts(shape),
                                  {Reduce::sum, 1, 0, 6, several.map.span()});
    EXPECT_TRUE(same_bytes(one.rows.span(), several.rows.span())) << count << " threads";
    EXPECT_TRUE(same_bytes(one.map.span(), several.map.span())) << count << " threads";
  }
}

TEST_P(BackwardKernel, NormsAreAsGoodAsAPlainLoop) {
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

TEST_P(BackwardKernel, ActivationsAreWithinRounding) {
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

HEADWATER_EACH_KERNEL(BackwardKernel);

}  // namespace
}  // namespace headwater::kernel
