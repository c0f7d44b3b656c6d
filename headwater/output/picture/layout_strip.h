// One row: shaded text and bars.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Puts the running text on the page from (0, 0) on, in lines, each token shaded by its value, and
/// under it a bar for each token that is kept if the strip has bars. Returns the bounds of the
/// text.
Bounds place_strip(Page& page, const Strip& strip, double top);

}  // namespace headwater
