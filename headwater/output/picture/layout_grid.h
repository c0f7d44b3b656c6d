// Panels of cells with their axes.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Puts the panels on the page, the first plot at (0, 0): up to four in a line, tokens along x
/// turned by 45 degrees, labels of y at the first panel of a line only. Returns the bounds of the
/// first line of plots, without labels.
Bounds place_grid(Page& page, Grid grid, double top);

}  // namespace headwater
