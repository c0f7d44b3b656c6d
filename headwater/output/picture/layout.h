// Where everything in a figure goes.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

/// Places the figure on a page as large as it needs. No two texts overlap, none lies on cells, none
/// leaves the page; labels that have no room are thinned out, and then carry the numbers of their
/// tokens. Cells begin at whole points, so that they are sharp in a .png.
Scene layout(Figure figure, Typesetter& typesetter);

/// Round numbers from 0 to at most `top`, at most `count` of them (at least 2), for an axis.
std::vector<double> ticks(double top, int count);
/// The same from `bottom` on, which must be below `top`: those within the scale, at least 2 points.
std::vector<double> ticks(double bottom, double top, int count);

}  // namespace headwater
