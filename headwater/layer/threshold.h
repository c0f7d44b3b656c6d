// The value below which a share of a matrix is discarded.
#pragma once
#include <cstdint>

#include "headwater/core/matrix.h"

namespace headwater {

/// The value of rank k (from 0) among all entries of `map` in ascending order; entries are not
/// negative, and 0 <= k < rows x columns. A few passes over the matrix, never a sort. The
/// same for any number of threads.
float value_of_rank(MatrixView map, int64_t k);

}  // namespace headwater
