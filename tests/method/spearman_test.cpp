#include "headwater/method/spearman.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headwater/method/average_ranks.h"

namespace headwater {
namespace {

using Floats = std::vector<float>;

TEST(Spearman, RanksFromOneAndSharesTies) {
  EXPECT_EQ(average_ranks(Floats{3, 1, 2}), (std::vector<double>{3, 1, 2}));
  EXPECT_EQ(average_ranks(Floats{5, 5, 1, 5}), (std::vector<double>{3, 3, 1, 3}));
  EXPECT_EQ(average_ranks(Floats{0, -0.0f}), (std::vector<double>{1.5, 1.5}));
  EXPECT_TRUE(average_ranks(Floats{}).empty());
}

TEST(Spearman, IsOneForTheSameOrderAndMinusOneForTheOther) {
  EXPECT_DOUBLE_EQ(spearman(Floats{1, 2, 3, 9}, Floats{10, 20, 21, 22}), 1);
  EXPECT_DOUBLE_EQ(spearman(Floats{1, 2, 3, 9}, Floats{4, 3, 2, 1}), -1);
}

TEST(Spearman, IsWhatAPersonFindsByHand) {
  // d = 1, -1, 1, -1: 1 - 6 * 4 / (4 * 15).
  EXPECT_DOUBLE_EQ(spearman(Floats{1, 2, 3, 4}, Floats{2, 1, 4, 3}), 0.6);
  // Ranks 1.5 1.5 3 and 1 2 3: covariance 1.5, squares 1.5 and 2.
  EXPECT_NEAR(spearman(Floats{1, 1, 2}, Floats{1, 2, 3}), 1.5 / std::sqrt(3.0), 1e-15);
}

TEST(Spearman, IsNoNumberWhereThereIsNoOrder) {
  EXPECT_TRUE(std::isnan(spearman(Floats{1, 1, 1}, Floats{1, 2, 3})));
  EXPECT_TRUE(std::isnan(spearman(Floats{1}, Floats{1})));
  EXPECT_TRUE(std::isnan(spearman(Floats{}, Floats{})));
}

}  // namespace
}  // namespace headwater
