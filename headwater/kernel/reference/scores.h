// The scores of attention in double, for its forward and its backward pass.
#pragma once
#include <algorithm>
#include <cmath>

#include "headwater/kernel/network.h"

namespace headwater::kernel::plain {

/// Keys begin ... end - 1, which row r sees.
struct Seen {
  int begin, end;
};

inline Seen seen_by(const Attention& in, int r) {
  const int place = in.sight.first + r, n = in.keys.rows(), window = in.sight.window;
  Seen seen{0, in.sight.causal ? place + 1 : n};
  if (window > 0) {
    seen.begin = std::max(0, place - window + 1);
    seen.end = std::min(seen.end, place + window);
  }
  return seen;
}

/// The score of row r and key j in head h, and the one before the cap.
struct Score {
  double value, uncapped;
};

inline Score score_of(const Attention& in, int h, int r, int j) {
  const int size = in.queries.columns() / in.heads, key = h / (in.heads / in.groups) * size;
  double score = 0;
  for (int d = 0; d < size; ++d) score += double{in.queries(r, h * size + d)} * in.keys(j, key + d);
  score *= in.scale;
  const double uncapped = score;
  if (in.cap != 0) score = in.cap * std::tanh(score / in.cap);
  const int distance = j - (in.sight.first + r) + in.keys.rows() - 1;
  if (in.distances.rows() > 0) score += double{in.distances(h, distance)};
  const Buckets& buckets = in.buckets;
  if (buckets.count > 0) {
    const int column = h * buckets.count + buckets.of[static_cast<size_t>(distance)];
    if (buckets.queries.rows() > 0) score += double{buckets.queries(r, column)};
    if (buckets.keys.rows() > 0) score += double{buckets.keys(j, column)};
  }
  return {score, uncapped};
}

}  // namespace headwater::kernel::plain
