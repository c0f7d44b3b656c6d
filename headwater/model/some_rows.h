// Some rows of a matrix, taken out and put back. Their numbers ascend.
#pragma once
#include <vector>

#include "headwater/core/matrix.h"

namespace headwater {

/// The rows that are not all zero.
std::vector<int> rows_with_numbers(MatrixView x);

/// A copy of these rows of x; no rows if x has none.
Matrix chosen(MatrixView x, const std::vector<int>& rows);

/// x(rows[k]) = some(k). Nothing if x has no rows.
void put_back(MatrixView some, const std::vector<int>& rows, MatrixSpan x);

/// The same, and 0 in all other rows of x.
void put_alone(MatrixView some, const std::vector<int>& rows, MatrixSpan x);

}  // namespace headwater
