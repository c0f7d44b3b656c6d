// The value below which a share of a matrix is discarded.
#pragma once
#include <cstdint>

#include "headwater/core/matrix.h"

namespace headwater {

/// The entry of rank k (from 0) in ascending order. Entries must not be negative; 0 <= k < rows x
/// columns. A few passes and no sort. The result does not depend on the number of threads.
float value_of_rank(MatrixView map, int64_t k);

}  // namespace headwater
