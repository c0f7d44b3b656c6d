#include "headwater/model/distance_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace headwater {
namespace {

// Half of the buckets are for keys after the query, unless none are. Half of each half are for one
// distance each, the others grow by equal factors. In float, as PyTorch rounds.
int bucket_of(const DistanceNames& names, int distance) {
  if (names.back_only) distance = std::min(distance, 0);
  const int half = names.back_only ? names.buckets : names.buckets / 2, single = half / 2;
  const int far = std::abs(distance), after = distance > 0 ? half : 0;
  if (far < single) return after + far;
  const float steps = std::log(static_cast<float>(far) / static_cast<float>(single)) /
                      static_cast<float>(std::log(static_cast<double>(names.furthest) / single)) *
                      static_cast<float>(half - single);
  return after + std::min(half - 1, single + static_cast<int>(steps));
}

}  // namespace

Matrix spread_distances(const Matrix& table, const DistanceNames& names, int n) {
  Matrix spread(table.columns(), 2 * n - 1);
  for (int k = 0; k < spread.columns(); ++k) {
    const int bucket = bucket_of(names, k - (n - 1));
    for (int h = 0; h < spread.rows(); ++h) spread(h, k) = table(bucket, h);
  }
  return spread;
}

}  // namespace headwater
