// Values over groups of tokens instead of tokens.
#pragma once
#include <vector>

#include "headwater/core/matrix.h"

namespace headwater {

/// out(r, c): the columns of group c added up, averaged over the rows of group r.
Matrix merge(MatrixView values, const std::vector<std::vector<int>>& rows,
             const std::vector<std::vector<int>>& columns);

}  // namespace headwater
