#include "headwater/method/compare_input.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace headwater::test {
namespace {

using Words = std::vector<std::string>;

// Each row gives `own` to its own token and the same share of the rest to all others.
Attribution rollout_of(int item, const Words& tokens, float own) {
  const int n = static_cast<int>(tokens.size());
  Attribution out;
  out.method = "rollout";
  out.source.kind = "file";
  out.source.name = "pair.npz";
  out.source.item = item;
  out.source.items = 2;
  out.source.tokens = tokens;
  Matrix values(n, n);
  for (int i = 0; i < n; ++i) {
    out.rows.push_back(i);
    for (int j = 0; j < n; ++j) values(i, j) = i == j ? own : (1 - own) / static_cast<float>(n - 1);
  }
  out.values.push_back(std::move(values));
  return out;
}

Comparison compared(Attribution a, Attribution b) {
  std::vector<Attribution> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  return compare_input(std::move(both));
}

const Words keys = {"[CLS]", "the", "keys", "open", "[SEP]"},
            door = {"[CLS]", "the", "door", "open", "[SEP]"};

TEST(CompareInput, NamesBothTokensWhereTheyDiffer) {
  const Comparison result = compared(rollout_of(0, keys, .6f), rollout_of(1, door, .4f));
  EXPECT_EQ(result.by, "input");
  for (const Attribution& panel : result.panels) {
    EXPECT_EQ(panel.source.tokens, (Words{"[CLS]", "the", "keys/door", "open", "[SEP]"}));
    EXPECT_EQ(panel.notes.back(),
              "1 of 5 tokens differ between the inputs; they are shown as one/other");
  }
  EXPECT_EQ(result.panels[0].label, "item 0");
  EXPECT_EQ(result.panels[1].label, "item 1");
  EXPECT_FLOAT_EQ(result.panels[0].values[0](2, 2), .6f);
  EXPECT_FLOAT_EQ(result.panels[1].values[0](2, 2), .4f);
  EXPECT_NEAR(result.agreement(0, 1), 1, 1e-6);  // each row: one large value, all others equal
}

TEST(CompareInput, AMarkOfPiecesCountsOnce) {
  const Comparison result =
      compared(rollout_of(0, {"open", "##ing"}, .6f), rollout_of(1, {"open", "##ed"}, .6f));
  EXPECT_EQ(result.panels[0].source.tokens, (Words{"open", "##ing/ed"}));
}

TEST(CompareInput, ComparesByWordsWhereTokensDoNotMatch) {
  const Words longer = {"[CLS]", "the", "door", "##bell", "open", "[SEP]"};
  const Comparison result = compared(rollout_of(0, keys, .6f), rollout_of(1, longer, .5f));
  EXPECT_EQ(result.panels[1].source.tokens,
            (Words{"[CLS]", "the", "keys/doorbell", "open", "[SEP]"}));
  EXPECT_FLOAT_EQ(result.panels[0].values[0](2, 2), .6f);
  // The columns of the pieces are added, their rows averaged: (.5 + .1 + .1 + .5) / 2.
  EXPECT_FLOAT_EQ(result.panels[1].values[0](2, 2), .6f);
}

TEST(CompareInput, RefusesWhatHasNoSamePositions) {
  const auto refused = [](Attribution a, Attribution b, const std::string& why) {
    expect_error(Error::Kind::work, {why}, [&] { compared(std::move(a), std::move(b)); });
  };
  refused(rollout_of(0, keys, .6f), rollout_of(1, {"a", "b"}, .6f),
          "pair.npz: item 1 has 2 tokens and item 0 has 5, expected as many tokens or words");
  Attribution other = rollout_of(1, door, .6f);
  other.rows = {1, 2, 3, 4, 0};
  refused(rollout_of(0, keys, .6f), std::move(other), "`row` is another token");
  std::vector<Attribution> one;
  one.push_back(rollout_of(0, keys, .6f));
  expect_error(Error::Kind::work, {"has 1 input, expected two or more"},
               [&] { compare_input(std::move(one)); });
}

}  // namespace
}  // namespace headwater::test
