// Panels of cells with their axes.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Places the panels with the first plot at (0, 0): up to four in a line, tokens along x rotated by
/// 45 degrees, labels of y only at the first panel of a line. Returns the bounds of the first line
/// of plots, without labels. Panels with a scale of their own get a colour bar each.
Bounds place_grid(Page& page, Grid grid, double bottom, double top, Ramp ramp);

/// Whether its panels have scales of their own.
bool has_own_scales(const Grid& grid);

}  // namespace headwater
