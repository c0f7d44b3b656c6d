// Rollout, average and metrics against plain loops in double, over random inputs and options.
#include <gtest/gtest.h>

#include "headwater/method/average.h"
#include "headwater/method/metrics.h"
#include "headwater/method/rollout.h"
#include "tests/support/in_memory.h"
#include "tests/support/reference_pipeline.h"

namespace headwater::test {
namespace {

void expect_near(MatrixView got, const Grid& expected) {
  ASSERT_EQ(static_cast<size_t>(got.rows()), expected.size());
  for (int i = 0; i < got.rows(); ++i)
    for (int j = 0; j < got.columns(); ++j)
      ASSERT_NEAR(got(i, j), expected[static_cast<size_t>(i)][static_cast<size_t>(j)], 2e-6)
          << i << ", " << j;
}

struct Trial {
  Attention attention;
  Options options;
};

std::vector<Trial> trials() {
  std::vector<Trial> all;
  unsigned seed = 60;
  for (Preset preset : {Preset::paper, Preset::tutorial, Preset::vit_explain, Preset::metrics})
    for (Fuse fuse : {Fuse::mean, Fuse::max, Fuse::min, Fuse::one(1)})
      for (Weights weights : {Weights::smooth, Weights::causal})
        for (int n : {1, 6, 33, 70}) {
          Trial trial{random_attention(4, 2, 3, n, ++seed, weights), options_of(preset)};
          trial.options.fuse = fuse;
          // No weight of a prepared layer lies as close to this rank as rounding reaches.
          if (preset == Preset::tutorial) trial.options.discard = 0.35;
          if (seed % 3 == 0) trial.options.layers = {1, -1};
          all.push_back(std::move(trial));
        }
  return all;
}

TEST(Methods, GiveWhatPlainLoopsGive) {
  for (const Trial& trial : trials()) {
    const auto& [attention, options] = trial;
    SCOPED_TRACE(to_string(options.preset) + ", " + to_string(options.fuse) + ", n " +
                 std::to_string(attention.n));
    InMemory memory(attention);
    for (int item : {0, 1}) {
      const auto source = memory.item(item);
      const std::vector<Grid> expected = rollouts(attention, item, options);
      expect_near(rollout(*source, options).values[0], expected.back());
      const Attribution every = rollout_by_layer(*source, options);
      ASSERT_EQ(every.values.size(), expected.size());
      for (size_t l = 0; l < expected.size(); ++l) expect_near(every.values[l], expected[l]);
      expect_near(average(*source, options).values[0], average_of(attention, item, options));
      expect_near(raw(*source, 2, options).values[0], fuse(attention, 2, item, options.fuse));
    }
  }
}

TEST(Metrics, AreThoseOfPlainLoops) {
  for (const Trial& trial : trials()) {
    const auto& [attention, options] = trial;
    SCOPED_TRACE(to_string(options.preset) + ", n " + std::to_string(attention.n));
    InMemory memory(attention);
    for (int layer : {-1, 1}) {
      const Metrics got = metrics(memory.batch(), options, layer);
      const Metrics expected = metrics_of(attention, options, layer < 0 ? layer + 4 : layer);
      EXPECT_NEAR(got.mean_attention, expected.mean_attention, 1e-6);
      EXPECT_NEAR(got.max_attention, expected.max_attention, 1e-6);
      EXPECT_NEAR(got.attention_entropy, expected.attention_entropy, 1e-5);
      EXPECT_NEAR(got.attention_concentration, expected.attention_concentration, 1e-6);
      EXPECT_NEAR(got.rollout_max, expected.rollout_max, 2e-6);
      EXPECT_NEAR(got.rollout_entropy, expected.rollout_entropy, 1e-5);
      EXPECT_EQ(got.batch_size, 2);
      EXPECT_EQ(got.seq_length, attention.n);
      EXPECT_EQ(got.layer, layer < 0 ? 3 : 1);
    }
  }
}

TEST(Metrics, OfABatchPoolTheirRows) {
  const Attention attention = random_attention(3, 2, 2, 5, 99, Weights::smooth);
  InMemory memory(attention);
  const Options options = options_of(Preset::metrics);
  const Metrics all = metrics(memory.batch(), options);
  const Metrics one = metrics(*memory.item(0), options), two = metrics(*memory.item(1), options);
  EXPECT_EQ(one.batch_size, 1);
  EXPECT_NEAR(all.attention_entropy, (one.attention_entropy + two.attention_entropy) / 2, 1e-12);
  EXPECT_NEAR(all.rollout_entropy, (one.rollout_entropy + two.rollout_entropy) / 2, 1e-12);
  EXPECT_EQ(all.rollout_max, std::max(one.rollout_max, two.rollout_max));
}

}  // namespace
}  // namespace headwater::test
