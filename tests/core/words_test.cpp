// The nearest name, the natural order of names, and sentences on one line.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/source/natural_order.h"

namespace headwater {
namespace {

constexpr std::array<std::string_view, 4> names = {"rollout", "raw", "average", "metrics"};

TEST(NearestNames, AreThoseWithTheFewestEdits) {
  EXPECT_EQ(nearest("rolout", names), "rollout");
  EXPECT_EQ(nearest("rollotu", names), "rollout");
  EXPECT_EQ(nearest("arw", names), "raw");
  EXPECT_EQ(nearest("metric", names), "metrics");
  EXPECT_EQ(nearest("rollout", names), "rollout");
  EXPECT_EQ(nearest("ROLLOUT", names), "rollout");
  EXPECT_EQ(nearest("roll", names), "rollout");
  EXPECT_EQ(nearest("ro", names), "");
}

TEST(NearestNames, AreNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("xyz", names), "");
  EXPECT_EQ(nearest(std::string(100'000, 'r'), names), "");
  EXPECT_EQ(nearest("raw", {}), "");
}

TEST(Suggestions, NameTheNearestOrAll) {
  EXPECT_EQ(suggestion("rolout", names), "; did you mean 'rollout'?");
  EXPECT_EQ(suggestion("xyz", names), "; expected one of rollout, raw, average, metrics");
}

TEST(NaturalOrder, CountsNumbersAsNumbers) {
  std::vector<std::string> expected = {"a",
                                       "a.1.b",
                                       "a.2.b",
                                       "a.10.b",
                                       "a1",
                                       "a01",
                                       "a2",
                                       "a10",
                                       "b",
                                       "b99999999999999999999",
                                       "b100000000000000000000"};
  // Equal numbers are told apart by their text: "a01" before "a1".
  std::swap(expected[4], expected[5]);
  std::vector<std::string> sorted = expected;
  std::mt19937 bits(3);
  for (int k = 0; k < 20; ++k) {
    std::shuffle(sorted.begin(), sorted.end(), bits);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return natural_less(a, b); });
    EXPECT_EQ(sorted, expected);
  }
  EXPECT_FALSE(natural_less("a1", "a1"));
}

TEST(Sentences, AreOneLineThatATerminalMayShow) {
  EXPECT_EQ(one_line("plain, \xc3\xa9 \xe6\xb0\xb4 \xf0\x9f\x8c\x8a"),
            "plain, \xc3\xa9 \xe6\xb0\xb4 \xf0\x9f\x8c\x8a");
  EXPECT_EQ(one_line("a\nb\r\x1b[2J\x7f"), "a\\x0ab\\x0d\\x1b[2J\\x7f");
  EXPECT_EQ(one_line("a\xff"
                     "b"),
            "a\xef\xbf\xbd"
            "b");
}

TEST(Sentences, KeepTheirEndWhereTheMiddleIsTooLong) {
  const std::string line = one_line("file: '" + std::string(100'000, 'x') + "'; do this");
  EXPECT_LT(line.size(), 5000u);
  EXPECT_TRUE(line.starts_with("file: 'xxx"));
  EXPECT_TRUE(line.ends_with("xxx'; do this"));
}

}  // namespace
}  // namespace headwater
