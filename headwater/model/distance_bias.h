// What distances between tokens add to the scores of attention, by buckets that widen with the
// distance (Raffel et al. 2020).
#pragma once
#include "headwater/core/matrix.h"

namespace headwater {

/// `table` is buckets x heads, with at least 32 rows. Returns heads x (2 n - 1) for an input of n
/// tokens, as kernel::Attention::distances has it.
Matrix spread_distances(const Matrix& table, int n);

}  // namespace headwater
