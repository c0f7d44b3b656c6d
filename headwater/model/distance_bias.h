// The bias of attention scores by distance between tokens, in buckets that widen with the distance
// (Raffel et al. 2020).
#pragma once
#include "headwater/core/matrix.h"
#include "headwater/model/architecture.h"

namespace headwater {

/// `table` has a row for each bucket of `names`, at least, and a column for each head. Returns
/// heads x (2 n - 1) for an input of n tokens, as kernel::Attention::distances has it.
Matrix spread_distances(const Matrix& table, const DistanceNames& names, int n);

}  // namespace headwater
