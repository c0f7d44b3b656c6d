// Which row of a result people want to see.
#pragma once
#include "headwater/result/attribution.h"

namespace headwater {

/// The row to show of a result that holds several: the last where all rows are there and nothing
/// lies above the diagonal, which is how causal attention looks, else the first.
int row_to_show(const Attribution& result);

}  // namespace headwater
