// Curves on a page.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Panels side by side, and at the right of the last one the legend.
void place_curves(Page& page, const Curves& curves);

}  // namespace headwater
