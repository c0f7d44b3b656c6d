// Places everything in a figure.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

/// Places the figure on a page of the size it needs. Texts overlap neither each other nor cells,
/// and none leaves the page. If labels do not fit, only some are shown, with the numbers of their
/// tokens. Cells start at whole points, so they are sharp in a .png.
Scene layout(Figure figure, Typesetter& typesetter);

/// Round numbers from 0 up to `top` for an axis: at least 2, and at most `count`.
std::vector<double> ticks(double top, int count);
/// The same from `bottom`, which must be below `top`; the numbers are within the scale.
std::vector<double> ticks(double bottom, double top, int count);

}  // namespace headwater
