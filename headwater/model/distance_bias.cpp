#include "headwater/model/distance_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headwater {
namespace {

// Half of the 32 buckets are for keys after the query. Of each half, 8 are for one distance each,
// the others up to 128 grow by equal factors. In float, as PyTorch rounds.
int bucket_of(int distance) {
  constexpr int half = 16, single = 8;
  constexpr float furthest = 128;
  const int far = std::abs(distance), after = distance > 0 ? half : 0;
  if (far < single) return after + far;
  const float steps = std::log(static_cast<float>(far) / single) /
                      static_cast<float>(std::log(static_cast<double>(furthest) / single)) *
                      (half - single);
  return after + std::min(half - 1, single + static_cast<int>(steps));
}

}  // namespace

Matrix spread_distances(const Matrix& table, int n) {
  Matrix spread(table.columns(), 2 * n - 1);
  for (int k = 0; k < spread.columns(); ++k) {
    const int bucket = bucket_of(k - (n - 1));
    for (int h = 0; h < spread.rows(); ++h) spread(h, k) = table(bucket, h);
  }
  return spread;
}

}  // namespace headwater
