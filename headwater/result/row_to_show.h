// Which values of a result to show.
#pragma once
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

/// The row to show of a result with several: the target's row for gradients, if it is there; the
/// last row if all rows are there and nothing is above the diagonal, as in causal attention; else
/// the first.
int row_to_show(const Attribution& result);

/// The rows to show where there is room for more: all rows of a requested list or word, else the
/// one row.
std::vector<int> rows_to_show(const Attribution& result);

/// The matrix to show of a result with several: up to the last layer; for relevance, at the input.
const Matrix& values_to_show(const Attribution& result);

}  // namespace headwater
