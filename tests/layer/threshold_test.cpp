#include "headwater/layer/threshold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "headwater/core/threads.h"

namespace headwater {
namespace {

using Draw = std::function<float(std::mt19937&)>;

float smooth(std::mt19937& bits) { return std::exponential_distribution<float>(1)(bits); }
float tied(std::mt19937& bits) { return static_cast<float>(bits() % 7) / 64; }
float close(std::mt19937& bits) {
  return 0.25f + static_cast<float>(bits() % 1000) * std::numeric_limits<float>::epsilon() / 4;
}
float mostly_zero(std::mt19937& bits) { return bits() % 4 ? 0.0f : smooth(bits); }
float negative_zero(std::mt19937& bits) { return bits() % 2 ? -0.0f : tied(bits); }
float denormal(std::mt19937& bits) {
  return static_cast<float>(bits() % 100) * std::numeric_limits<float>::denorm_min();
}
float wide(std::mt19937& bits) {
  return std::ldexp(smooth(bits), static_cast<int>(bits() % 200) - 100);
}

TEST(ValueOfRank, IsThatOfSorting) {
  std::mt19937 bits(1);
  const int before = threads();
  for (const Draw& draw : {Draw(smooth), Draw(tied), Draw(close), Draw(mostly_zero),
                           Draw(negative_zero), Draw(denormal), Draw(wide)}) {
    for (int n : {1, 2, 3, 7, 64, 65, 130, 200}) {
      Matrix map(n, n);
      std::generate_n(map.data(), map.size(), [&] { return draw(bits); });
      std::vector<float> sorted(map.data(), map.data() + map.size());
      std::sort(sorted.begin(), sorted.end());
      std::vector<size_t> ranks = {0, sorted.size() / 10, sorted.size() / 2, sorted.size() - 1};
      for (int k = 0; k < 5; ++k) ranks.push_back(bits() % sorted.size());
      for (size_t k : ranks)
        for (int count : {1, 3}) {
          set_threads(count);
          ASSERT_EQ(value_of_rank(map, static_cast<int64_t>(k)), sorted[k])
              << "rank " << k << " of " << sorted.size();
        }
    }
  }
  set_threads(before);
}

TEST(ValueOfRank, LooksOnlyAtTheColumnsOfAView) {
  const std::vector<float> wide = {1, 2, 99, 3, 4, 99};
  const MatrixView view(wide.data(), 2, 2, 3);
  EXPECT_EQ(value_of_rank(view, 0), 1);
  EXPECT_EQ(value_of_rank(view, 3), 4);
}

}  // namespace
}  // namespace headwater
