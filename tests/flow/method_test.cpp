#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "headwater/core/error.h"
#include "headwater/method/compare.h"
#include "headwater/method/flow/quantise.h"
#include "tests/flow/kinds.h"
#include "tests/flow/made.h"

namespace headwater::test {
namespace {

constexpr int32_t unit = kernel::flow_unit;

std::vector<int32_t> quantised(const std::vector<float>& weights) {
  std::vector<int32_t> out(weights.size());
  quantise(weights, out);
  return out;
}

int64_t sum(const std::vector<int32_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
}

bool has_note(const Attribution& result, const std::string& part) {
  return std::ranges::any_of(result.notes,
                             [&](const std::string& note) { return note.find(part) != note.npos; });
}

TEST(Quantise, GivesUnitsLeftOverToTheLargestRemaindersAndTheLowerColumn) {
  EXPECT_EQ(quantised({1, 1, 1}), (std::vector<int32_t>{unit / 3 + 1, unit / 3, unit / 3}));
  EXPECT_EQ(quantised({0.5f, 0, 0.5f}), (std::vector<int32_t>{unit / 2, 0, unit / 2}));
  EXPECT_EQ(quantised({0, 0, 0}), (std::vector<int32_t>{0, 0, 0}));
  EXPECT_EQ(quantised({0, 3, 0}), (std::vector<int32_t>{0, unit, 0}));
  EXPECT_EQ(quantised({2, 6}), (std::vector<int32_t>{unit / 4, 3 * (unit / 4)}));
}

TEST(Quantise, SumsToOneExactlyAndKeepsZeros) {
  std::mt19937 random(3);
  std::exponential_distribution<float> weight(1);
  for (int n = 1; n < 300; n += 7) {
    std::vector<float> row(static_cast<size_t>(n));
    for (float& x : row) x = std::pow(weight(random), 8.0f);
    row[static_cast<size_t>(n) / 2] = n > 1 ? 0 : 1;
    const std::vector<int32_t> out = quantised(row);
    EXPECT_EQ(sum(out), unit) << n;
    if (n > 1) {
      EXPECT_EQ(out[static_cast<size_t>(n) / 2], 0);
    }
    EXPECT_GE(*std::ranges::min_element(out), 0);
  }
}

TEST(Quantise, TakesValuesBelowOneUnit) {
  std::vector<float> row(1000, 1e-12f);
  row[0] = 1;
  const std::vector<int32_t> out = quantised(row);
  EXPECT_EQ(sum(out), unit);
  EXPECT_GE(out[0], unit - 1);
}

TEST(Flow, OfTheIdentityKeepsEveryToken) {
  for (int layers : {1, 2, 3, 7}) {
    std::vector<Matrix> stack;
    for (int l = 0; l < layers; ++l) {
      stack.emplace_back(5, 5);
      for (int i = 0; i < 5; ++i) stack.back()(i, i) = 1;
    }
    const std::vector<int32_t> flow = flows_of(stack);
    for (int i = 0; i < 5; ++i)
      for (int t = 0; t < 5; ++t)
        EXPECT_EQ(flow[static_cast<size_t>(5 * i + t)], i == t ? unit : 0);
  }
}

TEST(Flow, OfPermutationsIsTheirProduct) {
  constexpr int n = 6;
  std::vector<Matrix> stack;
  for (int l = 0; l < 8; ++l) {
    stack.emplace_back(n, n);
    for (int i = 0; i < n; ++i) stack.back()(i, (i + 1) % n) = 1;
  }
  const std::vector<int32_t> flow = flows_of(stack);
  for (int i = 0; i < n; ++i)
    for (int t = 0; t < n; ++t)
      EXPECT_EQ(flow[static_cast<size_t>(n * i + t)], t == (i + 8) % n ? unit : 0);
}

TEST(Flow, OfUniformLayersIsOne) {
  std::vector<Matrix> stack;
  for (int l = 0; l < 6; ++l) {
    stack.emplace_back(8, 8);
    std::fill_n(stack.back().data(), 64, 0.125f);
  }
  for (int32_t value : flows_of(stack)) EXPECT_EQ(value, unit);
}

TEST(Flow, OfOneTokenIsOne) {
  for (int layers : {1, 2, 3, 12}) {
    std::vector<Matrix> stack;
    for (int l = 0; l < layers; ++l) {
      stack.emplace_back(1, 1);
      stack.back()(0, 0) = 1;
    }
    EXPECT_EQ(flows_of(stack), std::vector<int32_t>{unit});
  }
}

// Every row attends to token 0 alone: nothing reaches another token but through one layer.
TEST(Flow, OfRowsWithASingleOneEndsThere) {
  std::vector<Matrix> stack;
  for (int l = 0; l < 5; ++l) {
    stack.emplace_back(4, 4);
    for (int i = 0; i < 4; ++i) stack.back()(i, 0) = 1;
  }
  const std::vector<int32_t> flow = flows_of(stack);
  for (int i = 0; i < 4; ++i)
    for (int t = 0; t < 4; ++t) EXPECT_EQ(flow[static_cast<size_t>(4 * i + t)], t == 0 ? unit : 0);
}

TEST(Flow, HasNothingToGiveFromAZeroRow) {
  std::vector<Matrix> stack = stack_of("bert", 6, 7, 1);
  std::ranges::fill(stack[6].row(2), 0.0f);
  const std::vector<int32_t> flow = flows_of(stack);
  for (int t = 0; t < 6; ++t) EXPECT_EQ(flow[static_cast<size_t>(2 * 6 + t)], 0);
}

TEST(Flow, TakesWeightsBelowOneUnit) {
  std::vector<Matrix> stack;
  for (int l = 0; l < 4; ++l) {
    stack.emplace_back(3, 3);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) stack.back()(i, j) = i == j ? 1.0f : 1e-20f;
  }
  const std::vector<int32_t> flow = flows_of(stack);
  EXPECT_EQ(flow[1], 0);
  EXPECT_EQ(flow[0], unit);
}

// Two tokens, by hand: A_2 = (3/4 1/4; 1/4 3/4), A_1 = (1/2 1/2; 1/4 3/4).
TEST(Flow, OfTwoLayersByHand) {
  Matrix low(2, 2), high(2, 2);
  low(0, 0) = low(0, 1) = 0.5f;
  low(1, 0) = 0.25f;
  low(1, 1) = 0.75f;
  high(0, 0) = high(1, 1) = 0.75f;
  high(0, 1) = high(1, 0) = 0.25f;
  std::vector<Matrix> stack;
  stack.push_back(std::move(low));
  stack.push_back(std::move(high));
  InMemory source(attention_of(stack));
  const Attribution result = flow(*source.item(), as_they_are(), certified());
  EXPECT_EQ(result.method, "flow");
  EXPECT_EQ(result.exact[0](0, 0), 0.75);  // min(3/4, 1/2) + min(1/4, 1/4)
  EXPECT_EQ(result.exact[0](0, 1), 0.75);
  EXPECT_EQ(result.exact[0](1, 0), 0.5);
  EXPECT_EQ(result.exact[0](1, 1), 1.0);
  EXPECT_TRUE(has_note(result, "all 4 values certified"));
}

TEST(Flow, RowColumnLayersAndMeanArePartsOfTheWhole) {
  InMemory source(random_attention(6, 1, 4, 11, 8, Weights::smooth));
  const Attribution whole = flow(*source.item(), {}, certified());
  Options one;
  one.row = {Row::Kind::index, 4};
  FlowOptions pair = certified();
  pair.column = -2;
  const Attribution value = flow(*source.item(), one, pair);
  EXPECT_EQ(value.columns, std::vector<int>{9});
  ASSERT_EQ(value.exact[0].columns(), 1);
  EXPECT_EQ(value.exact[0](0, 0), whole.exact[0](4, 9));
  EXPECT_EQ(flow(*source.item(), one, certified()).exact[0](0, 3), whole.exact[0](4, 3));
  Options mean;
  mean.row.kind = Row::Kind::mean;
  double sum = 0;
  for (int i = 0; i < 11; ++i) sum += whole.exact[0](i, 5);
  EXPECT_NEAR(flow(*source.item(), mean).exact[0](0, 5), sum / 11, 1e-12);

  FlowOptions every = certified();
  every.every_layer = true;
  Options upper;
  upper.layers = {2, 6};
  const Attribution tops = flow(*source.item(), upper, every);
  EXPECT_EQ(tops.by_layer, (std::vector<int>{2, 3, 4, 5}));
  for (int top = 2; top < 6; ++top) {
    Options range;
    range.layers = {2, top + 1};
    const Attribution single = flow(*source.item(), range, certified());
    for (int i = 0; i < 11; ++i)
      for (int t = 0; t < 11; ++t)
        EXPECT_EQ(single.exact[0](i, t), tops.exact[static_cast<size_t>(top) - 2](i, t));
  }
}

TEST(Flow, NormalisesRowsAndLeavesZeroRows) {
  std::vector<Matrix> stack = stack_of("bert", 5, 3, 1);
  std::ranges::fill(stack[2].row(1), 0.0f);
  InMemory source(attention_of(stack), [] {
    ReadOptions read;
    read.any_sums = true;
    return read;
  }());
  Options options = as_they_are();
  options.empty = Empty::zero;
  FlowOptions normal = certified();
  normal.normalise = true;
  const Attribution result = flow(*source.item(), options, normal);
  for (int i = 0; i < 5; ++i) {
    const std::span<const double> row = result.exact[0].row(i);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), i == 1 ? 0 : 1, 1e-12);
  }
}

TEST(Flow, SaysWhenItSaysNothingAboutTheOutputToken) {
  InMemory deep(attention_of(stack_of("bert", 24, 12, 1)));
  const Attribution result = flow(*deep.item(), as_they_are());
  EXPECT_TRUE(has_note(result, "100 % of the values")) << result.notes.size();
  EXPECT_TRUE(has_note(result, "use flow over fewer layers"));
  Options shallow = as_they_are();
  shallow.layers = {0, 2};
  EXPECT_FALSE(has_note(flow(*deep.item(), shallow), "of the pairs"));
}

TEST(Flow, ReportsPairsAndStopsWhenTold) {
  InMemory source(attention_of(stack_of("causal", 30, 4, 1)));
  int64_t last = -1, total = 0;
  FlowOptions options;
  options.progress = [&](int64_t settled, int64_t pairs) {
    EXPECT_GE(settled, last);
    last = settled;
    total = pairs;
  };
  flow(*source.item(), as_they_are(), options);
  EXPECT_EQ(last, 900);
  EXPECT_EQ(total, 900);
  InMemory deep(attention_of(stack_of("bert", 20, 8, 1)));
  for (bool every : {false, true}) {
    last = -1;
    options.every_layer = every;
    flow(*deep.item(), as_they_are(), options);
    EXPECT_EQ(last, total);
    EXPECT_EQ(total, every ? 8 * 400 : 400);
  }
  options.progress = [](int64_t settled, int64_t) {
    if (settled > 100) throw std::runtime_error("stop");
  };
  EXPECT_THROW(flow(*source.item(), as_they_are(), options), std::runtime_error);
}

TEST(Flow, RefusesAColumnThatIsNotThere) {
  InMemory source(random_attention(2, 1, 1, 4, 1));
  FlowOptions options;
  options.column = 4;
  EXPECT_THROW(flow(*source.item(), {}, options), Error);
}

TEST(Compare, ByMethodEndsWithFlow) {
  InMemory source(random_attention(3, 1, 2, 6, 1));
  const Comparison comparison = compare_method(*source.item(), {});
  ASSERT_EQ(comparison.panels.size(), 4u);
  EXPECT_EQ(comparison.panels[3].label, "flow");
  EXPECT_EQ(comparison.agreement.rows(), 4);
}

}  // namespace
}  // namespace headwater::test
