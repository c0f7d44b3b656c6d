#include <cstdint>
#include <cstring>
#include <limits>

#include "tests/kernel/judge.h"

namespace headwater::kernel {
namespace {

constexpr DType weight_types[] = {DType::f32, DType::f16, DType::bf16};
constexpr Activation every_activation[] = {
    Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
    Activation::relu, Activation::silu, Activation::tanh};

// Weights of a type at an address that is no multiple of anything.
struct Stored {
  Stored(DType type, int outputs, int inputs, bool input_major, unsigned seed)
      : bytes(static_cast<size_t>(outputs) * static_cast<size_t>(inputs) * size_of(type) + 1) {
    std::mt19937 bits(seed);
    std::normal_distribution<float> normal(0, 1);
    for (size_t i = 1; i < bytes.size(); i += size_of(type)) {
      const float x = normal(bits);
      uint32_t all;
      std::memcpy(&all, &x, sizeof all);
      const uint16_t top = static_cast<uint16_t>(all >> 16);
      // A random sign and fraction, exponents from 2^-5 to 2^0.
      const auto half = static_cast<uint16_t>((bits() & 0x83FFu) | (10 + bits() % 6) << 10);
      if (type == DType::f32) std::memcpy(&bytes[i], &x, sizeof x);
      if (type == DType::bf16) std::memcpy(&bytes[i], &top, sizeof top);
      if (type == DType::f16) std::memcpy(&bytes[i], &half, sizeof half);
    }
    weights = {type, bytes.data() + 1, outputs, inputs, input_major};
  }
  std::vector<std::byte> bytes;
  Weights weights;
};

float plain_activation(Activation activation, float x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return x * 0.5f * (1.0f + std::erf(x * 0.70710678f));
    case Activation::gelu_tanh:
      return x * 0.5f * (1.0f + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case Activation::quick_gelu:
      return x / (1.0f + std::exp(-1.702f * x));
    case Activation::relu:
      return x > 0 ? x : 0;
    case Activation::silu:
      return x / (1.0f + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

void plain_linear(MatrixView x, const Weights& weights, const Finish& finish, MatrixSpan out) {
  const size_t width = size_of(weights.type);
  for (int t = 0; t < x.rows(); ++t)
    for (int o = 0; o < weights.outputs; ++o) {
      float sum = 0;
      for (int k = 0; k < weights.inputs; ++k) {
        const auto at = weights.input_major ? static_cast<size_t>(k) * weights.outputs + o
                                            : static_cast<size_t>(o) * weights.inputs + k;
        sum += x(t, k) * static_cast<float>(number_at(weights.type, weights.data + at * width));
      }
      const float result =
          plain_activation(finish.activation, sum + (finish.bias.empty() ? 0 : finish.bias[o]));
      if (finish.into == Into::store) out(t, o) = result;
      if (finish.into == Into::add) out(t, o) += result;
      if (finish.into == Into::multiply) out(t, o) *= result;
    }
}

class Linear : public EachKernel {
 protected:
  void check(int rows, int inputs, int outputs, DType type, bool input_major,
             Activation activation = Activation::none, Into into = Into::store) {
    const Stored stored(type, outputs, inputs, input_major, 1);
    const std::vector<float> bias = normal_floats(static_cast<size_t>(outputs), 2);
    Island x(rows, inputs, 3);
    Island got(rows, outputs, 4), plain(rows, outputs, 4), exact(rows, outputs, 4);
    Finish finish{bias, activation, into};
    if (inputs % 2 == 1) finish.bias = {};
    GetParam().network.linear(x.span(), stored.weights, finish, got.span());
    plain_linear(x.span(), stored.weights, finish, plain.span());
    reference().network.linear(x.span(), stored.weights, finish, exact.span());
    Judge judge;
    judge.see(got.span(), plain.span(), exact.span());
    EXPECT_TRUE(judge.verdict()) << rows << " x " << inputs << " to " << outputs << " "
                                 << name_of(type) << (input_major ? " input-major" : "");
    EXPECT_TRUE(got.sea_is_calm());
  }
};

TEST_P(Linear, TakesEverySmallSize) {
  for (DType type : weight_types)
    for (bool input_major : {false, true})
      for (int n = 0; n <= past_two_vectors; ++n) {
        check(n, 5, 3, type, input_major);
        check(1, n, 3, type, input_major);
        check(3, n, 5, type, input_major);
        check(1, 7, n, type, input_major);
        check(2, 7, n, type, input_major);
      }
}

TEST_P(Linear, TakesSizesAcrossTilesTasksAndStretches) {
  for (bool input_major : {false, true}) {
    for (const auto& [rows, inputs, outputs] :
         {std::array{1, 1000, 131}, std::array{40, 384, 49}, std::array{37, 385, 96},
          std::array{5, 1153, 61}, std::array{1, 90, 300}, std::array{530, 12, 13}})
      check(rows, inputs, outputs, DType::f32, input_major);
    check(17, 800, 100, DType::f16, input_major);
    check(17, 800, 100, DType::bf16, input_major);
  }
}

TEST_P(Linear, FinishesEachNumber) {
  for (Activation activation : every_activation)
    for (Into into : {Into::store, Into::add, Into::multiply})
      for (int rows : {1, 2, 19}) {
        check(rows, 6, 29, DType::f32, false, activation, into);
        check(rows, 6, 29, DType::f32, true, activation, into);
      }
}

TEST_P(Linear, ActivatesEveryFloatOfTheRange) {
  // One input of weight 1: the results are the activations themselves.
  const float one = 1;
  const Weights same{DType::f32, reinterpret_cast<const std::byte*>(&one), 1, 1, false};
  for (Activation activation : every_activation) {
    Matrix x(20001, 1), got(20001, 1);
    for (int t = 0; t < x.rows(); ++t) x(t, 0) = static_cast<float>(t - 10000) / 800;
    for (float large : {-1000.0f, -90.0f, -20.0f, 20.0f, 90.0f, 1000.0f})
      x(static_cast<int>(std::abs(large)), 0) = large;
    GetParam().network.linear(x, same, {{}, activation, Into::store}, got);
    for (int t = 0; t < x.rows(); ++t) {
      Matrix exact(1, 1);
      reference().network.linear(MatrixView(x).rows(t, 1), same, {{}, activation, Into::store},
                                 exact);
      const double plain = plain_activation(activation, x(t, 0));
      EXPECT_LE(std::abs(got(t, 0) - exact(0, 0)),
                2 * std::abs(plain - exact(0, 0)) + 5e-7 * std::abs(exact(0, 0)) + 1e-9)
          << static_cast<int>(activation) << " of " << x(t, 0);
    }
  }
}

TEST_P(Linear, ReadsEveryHalfAsItIs) {
  for (DType type : {DType::f16, DType::bf16}) {
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    const auto* data = reinterpret_cast<const std::byte*>(bits.data());
    for (bool input_major : {false, true})
      for (int rows : {1, 2}) {
        Matrix x(rows, 1), out(rows, 65536);
        for (int t = 0; t < rows; ++t) x(t, 0) = 1;
        GetParam().network.linear(x, {type, data, 65536, 1, input_major}, {}, out);
        for (int t = 0; t < rows; ++t)
          for (int i = 0; i < 65536; ++i) {
            const double exact = number_at(type, data + 2 * i);
            if (std::isnan(exact))
              ASSERT_TRUE(std::isnan(out(t, i))) << i;
            else
              ASSERT_EQ(out(t, i), exact) << i;
          }
      }
  }
}

TEST_P(Linear, GivesTheSameBytesForEveryNumberOfThreads) {
  for (int rows : {1, 50}) {
    const Stored stored(DType::f32, 500, 700, false, 5);
    const Matrix x = normal_matrix(rows, 700, 6);
    Matrix one(rows, 500);
    set_threads(1);
    GetParam().network.linear(x, stored.weights, {}, one);
    for (int count : {2, 3, 5}) {
      Matrix several(rows, 500);
      set_threads(count);
      GetParam().network.linear(x, stored.weights, {}, several);
      EXPECT_TRUE(same_bytes(one, several)) << count << " threads";
    }
  }
}

TEST_P(Linear, GivesARowTheSameBytesAloneAndAmongOthers) {
  for (DType type : weight_types)
    for (bool input_major : {false, true}) {
      const Stored stored(type, 77, 900, input_major, 7);
      const std::vector<float> bias = normal_floats(77, 8);
      const Finish finish{bias, Activation::gelu, Into::store};
      const Matrix x = normal_matrix(41, 900, 9);
      Matrix all(41, 77), one(1, 77), some(5, 77);
      GetParam().network.linear(x, stored.weights, finish, all);
      for (int t = 0; t < 41; t += 4) {
        GetParam().network.linear(MatrixView(x).rows(t, 1), stored.weights, finish, one);
        EXPECT_TRUE(same_bytes(one, MatrixView(all).rows(t, 1))) << name_of(type) << " row " << t;
      }
      GetParam().network.linear(MatrixView(x).rows(30, 5), stored.weights, finish, some);
      EXPECT_TRUE(same_bytes(some, MatrixView(all).rows(30, 5))) << name_of(type);
    }
}

HEADWATER_EACH_KERNEL(Linear);

}  // namespace
}  // namespace headwater::kernel
