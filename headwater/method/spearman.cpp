#include "headwater/method/spearman.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/method/average_ranks.h"

namespace headwater {

std::vector<double> average_ranks(std::span<const float> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t k) { return values[k]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t k = begin; k < end; ++k) ranks[order[k]] = static_cast<double>(begin + end + 1) / 2;
  }
  return ranks;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double product = 0, square_a = 0, square_b = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    product += (a[k] - mean_a) * (b[k] - mean_b);
    square_a += (a[k] - mean_a) * (a[k] - mean_a);
    square_b += (b[k] - mean_b) * (b[k] - mean_b);
  }
  if (!(square_a > 0 && square_b > 0)) return std::numeric_limits<double>::quiet_NaN();
  return product / std::sqrt(square_a * square_b);
}

double spearman(std::span<const float> a, std::span<const float> b) {
  return correlation(average_ranks(a), average_ranks(b));
}

}  // namespace headwater
