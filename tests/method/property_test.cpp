// Properties that hold for any attention, tried on many.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "headwater/layer/layers.h"
#include "headwater/method/rollout.h"
#include "tests/support/bytes.h"
#include "tests/support/in_memory.h"

namespace headwater::test {
namespace {

constexpr double tolerance = 3e-6;

Attention any_attention(int most_tokens = 24, bool may_be_causal = true, int least_layers = 1) {
  const int layers = *rc::gen::inRange(least_layers, 6), heads = *rc::gen::inRange(1, 5);
  const int n = *rc::gen::inRange(1, most_tokens + 1), items = *rc::gen::inRange(1, 3);
  const auto seed = *rc::gen::arbitrary<unsigned>();
  const bool causal = may_be_causal && *rc::gen::arbitrary<bool>();
  return random_attention(layers, items, heads, n, seed,
                          causal ? Weights::causal : Weights::smooth);
}

// Without discard: a threshold is a cliff that rounding can push an entry over.
Options any_options() {
  Options options;
  options.residual = *rc::gen::element(0.0, 0.25, 0.5, 0.9);
  options.fuse = *rc::gen::element(Fuse::mean, Fuse::max, Fuse::min, Fuse::one(-1));
  return options;
}

bool close(MatrixView a, MatrixView b, double allowed = tolerance) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < a.columns(); ++j)
      if (!(std::abs(a(i, j) - b(i, j)) <= allowed)) return false;
  return true;
}

Matrix roll(const Attention& attention, const Options& options, int item = 0) {
  InMemory memory(attention);
  Attribution result = rollout(*memory.item(item), options);
  return std::move(result.values[0]);
}

Matrix product(MatrixView a, MatrixView b) {
  Matrix out(a.rows(), b.columns());
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < b.columns(); ++j) {
      double sum = 0;
      for (int k = 0; k < a.columns(); ++k) sum += static_cast<double>(a(i, k)) * b(k, j);
      out(i, j) = static_cast<float>(sum);
    }
  return out;
}

RC_GTEST_PROP(Rollout, HasRowsThatSumToOne, ()) {
  Options options = any_options();
  options.discard = *rc::gen::element(0.0, 0.1, 0.5, 0.9);
  options.order = *rc::gen::element(Order::residual_first, Order::discard_first);
  const Matrix rolled = roll(any_attention(), options);
  for (int i = 0; i < rolled.rows(); ++i) {
    double sum = 0;
    for (float value : rolled.row(i)) {
      RC_ASSERT(value >= 0);
      sum += static_cast<double>(value);
    }
    RC_ASSERT(std::abs(sum - 1) < 1e-5);
  }
}

RC_GTEST_PROP(Rollout, OfOneLayerIsThatLayer, ()) {
  const Attention attention = any_attention();
  const Options options = any_options();
  InMemory memory(attention);
  const auto source = memory.item();
  const int layer = *rc::gen::inRange(0, attention.layers);
  Options one = options;
  one.layers = {layer, layer + 1};
  Layers layers(*source, one);
  const Attribution result = rollout(*source, one);
  layers.each(Direction::up,
              [&](int, MatrixSpan map) { RC_ASSERT(close(result.values[0], map, 0)); });
}

RC_GTEST_PROP(Rollout, OfOneRowIsThatRowOfAll, ()) {
  const Attention attention = any_attention();
  Options options = any_options();
  options.preset = *rc::gen::element(Preset::paper, Preset::metrics);
  const Matrix all = roll(attention, options);
  const int i = *rc::gen::inRange(0, attention.n);
  options.row = {Row::Kind::index, *rc::gen::element(i, i - attention.n)};
  RC_ASSERT(close(roll(attention, options), MatrixView(all).rows(i, 1)));
}

RC_GTEST_PROP(Rollout, OfTheMeanIsTheMeanOfAllRows, ()) {
  const Attention attention = any_attention();
  Options options = any_options();
  options.preset = *rc::gen::element(Preset::paper, Preset::metrics);
  const Matrix all = roll(attention, options);
  Matrix mean(1, attention.n);
  for (int i = 0; i < attention.n; ++i)
    for (int j = 0; j < attention.n; ++j) mean(0, j) += all(i, j) / static_cast<float>(attention.n);
  options.row = {Row::Kind::mean, 0};
  RC_ASSERT(close(roll(attention, options), mean));
}

RC_GTEST_PROP(Rollout, TurnsWithTheTokens, ()) {
  const Attention attention = any_attention(16, false);
  const Options options = any_options();
  std::vector<int> order(static_cast<size_t>(attention.n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 bits(*rc::gen::arbitrary<unsigned>());
  std::shuffle(order.begin(), order.end(), bits);
  Attention turned = attention;
  for (int l = 0; l < attention.layers; ++l)
    for (int b = 0; b < attention.items; ++b)
      for (int h = 0; h < attention.heads; ++h)
        for (int i = 0; i < attention.n; ++i)
          for (int j = 0; j < attention.n; ++j)
            turned.at(l, b, h, i, j) =
                attention.at(l, b, h, order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
  const Matrix before = roll(attention, options), after = roll(turned, options);
  for (int i = 0; i < attention.n; ++i)
    for (int j = 0; j < attention.n; ++j)
      RC_ASSERT(std::abs(after(i, j) - before(order[static_cast<size_t>(i)],
                                              order[static_cast<size_t>(j)])) < tolerance);
}

RC_GTEST_PROP(Rollout, OfCausalLayersIsCausal, ()) {
  const Attention attention = random_attention(3, 1, 2, *rc::gen::inRange(1, 80),
                                               *rc::gen::arbitrary<unsigned>(), Weights::causal);
  const Matrix rolled = roll(attention, any_options());
  for (int i = 0; i < rolled.rows(); ++i)
    for (int j = i + 1; j < rolled.columns(); ++j) RC_ASSERT(rolled(i, j) == 0);
}

RC_GTEST_PROP(Rollout, OfABatchIsThatOfItsItems, ()) {
  const Attention batch = any_attention();
  const Options options = any_options();
  for (int b = 0; b < batch.items; ++b) {
    Attention one{batch.layers, 1, batch.heads, batch.n, {}};
    for (int l = 0; l < batch.layers; ++l)
      for (int h = 0; h < batch.heads; ++h)
        for (int i = 0; i < batch.n; ++i)
          for (int j = 0; j < batch.n; ++j) one.values.push_back(batch.at(l, b, h, i, j));
    RC_ASSERT(close(roll(batch, options, b), roll(one, options), 0));
  }
}

RC_GTEST_PROP(Rollout, OverTwoRangesIsTheirProduct, ()) {
  const Attention attention = any_attention(24, true, 2);
  const int middle = *rc::gen::inRange(1, attention.layers);
  Options options = any_options(), lower = options, upper = options;
  lower.layers = {0, middle};
  upper.layers = {middle, {}};
  RC_ASSERT(
      close(roll(attention, options), product(roll(attention, upper), roll(attention, lower))));
}

RC_GTEST_PROP(Rollout, ByLayerEndsInTheRollout, ()) {
  const Attention attention = any_attention();
  Options options = any_options();
  options.preset = *rc::gen::element(Preset::paper, Preset::metrics);
  options.row = *rc::gen::element(Row{}, Row{Row::Kind::last, 0}, Row{Row::Kind::mean, 0});
  InMemory memory(attention);
  const Attribution every = rollout_by_layer(*memory.item(), options);
  RC_ASSERT(static_cast<int>(every.values.size()) == attention.layers);
  RC_ASSERT(close(every.values.back(), rollout(*memory.item(), options).values[0]));
}

RC_GTEST_PROP(Rollout, IsTheSameBytesForEveryThreadCount, ()) {
  const Attention attention = any_attention(150);
  Options options = any_options();
  options.discard = *rc::gen::element(0.0, 0.3);
  options.row = *rc::gen::element(Row{}, Row{Row::Kind::index, 0}, Row{Row::Kind::mean, 0});
  const int before = threads();
  set_threads(1);
  const Matrix one = roll(attention, options);
  for (int count : {2, 3, 5}) {
    set_threads(count);
    const Matrix many = roll(attention, options);
    RC_ASSERT(std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
  }
  set_threads(before);
}

RC_GTEST_PROP(Rollout, IsTheSameForEveryKernel, ()) {
  const Attention attention = any_attention(70);
  const Options options = any_options();
  kernel::use("reference");
  const Matrix exact = roll(attention, options);
  for (const std::string& name : kernel::available()) {
    kernel::use(name);
    RC_ASSERT(close(roll(attention, options), exact));
  }
  kernel::use("");
}

RC_GTEST_PROP(Rollout, OfF16IsThatOfItsNumbersAsF32, ()) {
  const Attention attention = any_attention();
  const Options options = any_options();
  for (DType type : {DType::f16, DType::bf16, DType::f64}) {
    const Bytes numbers = encode(type, attention.values);
    std::vector<float> converted;
    for (size_t k = 0; k < attention.values.size(); ++k)
      converted.push_back(static_cast<float>(
          number_at(type, reinterpret_cast<const std::byte*>(numbers.data()) + k * size_of(type))));
    const auto shape = shape_of(attention, "LBHnn");
    const auto narrow = from_memory({{type, shape, numbers.data()}});
    const auto plain = from_memory({{DType::f32, shape, converted.data()}});
    const Attribution a = rollout(*narrow->item(0), options), b = rollout(*plain->item(0), options);
    RC_ASSERT(close(a.values[0], b.values[0], type == DType::f64 ? 1e-6 : 0));
  }
}

}  // namespace
}  // namespace headwater::test
