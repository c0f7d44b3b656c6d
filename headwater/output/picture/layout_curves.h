// Curves on a page.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Places the panels side by side, with the legend to the right of the last one.
void place_curves(Page& page, const Curves& curves);

}  // namespace headwater
