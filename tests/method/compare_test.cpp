#include "headwater/method/compare.h"

#include <gtest/gtest.h>

#include "headwater/method/average.h"
#include "headwater/method/metrics.h"
#include "headwater/method/rollout.h"
#include "tests/support/expect_error.h"
#include "tests/support/in_memory.h"

namespace headwater::test {
namespace {

std::vector<std::string> labels(const Comparison& comparison) {
  std::vector<std::string> all;
  for (const Attribution& panel : comparison.panels) all.push_back(panel.label);
  return all;
}

void expect_same(const Attribution& a, const Attribution& b) {
  ASSERT_EQ(a.values.size(), b.values.size());
  ASSERT_EQ(a.values[0].size(), b.values[0].size());
  for (size_t k = 0; k < a.values[0].size(); ++k)
    ASSERT_EQ(a.values[0].data()[k], b.values[0].data()[k]);
}

Attribution of_rows(const std::vector<std::vector<float>>& rows) {
  Attribution result;
  Matrix values(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (size_t r = 0; r < rows.size(); ++r)
    std::ranges::copy(rows[r], values.row(static_cast<int>(r)).begin());
  result.values.push_back(std::move(values));
  return result;
}

TEST(Agreement, IsTheMeanOverRowsOfSpearman) {
  std::vector<Attribution> results;
  results.push_back(of_rows({{1, 2, 3, 4}, {1, 2, 3, 4}}));
  results.push_back(of_rows({{2, 1, 4, 3}, {4, 3, 2, 1}}));  // .6 and -1
  results.push_back(of_rows({{7, 7, 7, 7}, {1, 2, 3, 4}}));  // the first row has no order
  results.push_back(of_rows({{7, 7, 7, 7}, {7, 7, 7, 7}}));  // no row has one
  const Matrix mean = agreement(results);
  EXPECT_NEAR(mean(0, 1), -0.2, 1e-6);
  EXPECT_EQ(mean(0, 1), mean(1, 0));
  EXPECT_NEAR(mean(0, 2), 1, 1e-6);
  EXPECT_NEAR(mean(1, 2), -1, 1e-6);
  EXPECT_EQ(mean(0, 3), 0);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(mean(k, k), 1);
  EXPECT_EQ(agreement({}).size(), 0u);
}

using Labels = std::vector<std::string>;

TEST(Comparisons, HaveTheirPanels) {
  InMemory memory(random_attention(3, 1, 2, 5, 71, Weights::smooth));
  const auto source = memory.item();
  const Options options;
  const Comparison layer = compare_layer(*source);
  EXPECT_EQ(layer.by, "layer");
  EXPECT_EQ(labels(layer), (Labels{"layer 2", "rollout"}));
  expect_same(layer.panels[0], raw(*source, 2, options));
  expect_same(layer.panels[1], rollout(*source, options));
  EXPECT_EQ(layer.agreement.rows(), 2);

  const Comparison discard = compare_discard(*source, options);
  EXPECT_EQ(labels(discard), (Labels{"discard 0", "discard 0.1", "discard 0.3", "discard 0.5"}));
  EXPECT_EQ(discard.panels[2].options.discard, 0.3);
  const Comparison fuse = compare_fuse(*source);
  EXPECT_EQ(labels(fuse), (Labels{"fuse mean", "fuse max", "fuse min"}));
  const Comparison method = compare_method(*source, options);
  EXPECT_EQ(labels(method), (Labels{"raw, layer 2", "average", "rollout", "flow"}));
  expect_same(method.panels[1], average(*source, options));
  expect_error(Error::Kind::work, {"has no layer 3"}, [&] { compare_layer(*source, options, 3); });
}

TEST(Metrics, HaveTheirOwnPresetByDefault) {
  InMemory memory(random_attention(3, 1, 2, 5, 71, Weights::smooth));
  EXPECT_EQ(metrics(*memory.item()).options.preset, Preset::metrics);
}

TEST(Comparisons, OfTheEvolutionShowSixLayersOrFive) {
  for (int layers : {1, 6, 7, 12, 25}) {
    InMemory memory(random_attention(layers, 1, 1, 4, 72, Weights::smooth));
    const auto source = memory.item();
    Options options;
    options.row = {Row::Kind::index, 2};
    const Comparison evolution = compare_evolution(*source, options);
    std::vector<int> expected;
    if (layers <= 6)
      for (int l = 0; l < layers; ++l) expected.push_back(l);
    else
      expected = {0, layers / 4, 2 * (layers / 4), 3 * (layers / 4), layers - 1};
    ASSERT_EQ(evolution.panels.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      const Attribution& panel = evolution.panels[k];
      EXPECT_EQ(panel.label, "after layer " + std::to_string(expected[k]));
      EXPECT_EQ(panel.layers, (Range{0, expected[k] + 1}));
      Options up_to = options;
      up_to.layers = {0, expected[k] + 1};
      const Attribution alone = rollout(*source, up_to);
      for (int j = 0; j < 4; ++j) EXPECT_NEAR(panel.values[0](0, j), alone.values[0](0, j), 1e-6);
    }
  }
}

TEST(Attributions, SayWhatTheyAre) {
  InMemory memory(random_attention(3, 2, 2, 5, 73));
  Options options;
  options.layers = {1, {}};
  options.row = {Row::Kind::last, 0};
  const Attribution result = rollout_by_layer(*memory.item(1), options);
  EXPECT_EQ(result.method, "rollout");
  EXPECT_EQ(result.layers, (Range{1, 3}));
  EXPECT_EQ(result.by_layer, (std::vector<int>{1, 2}));
  EXPECT_EQ(result.rows, std::vector<int>{4});
  EXPECT_FALSE(result.mean_row);
  EXPECT_EQ(result.source.item, 1);
  EXPECT_EQ(result.source.kind, "memory");
  EXPECT_GE(result.timing.reading, 0);
  options.row = {Row::Kind::mean, 0};
  const Attribution mean = average(*memory.item(0), options);
  EXPECT_EQ(mean.method, "average");
  EXPECT_TRUE(mean.mean_row && mean.rows.empty() && mean.by_layer.empty());
}

}  // namespace
}  // namespace headwater::test
