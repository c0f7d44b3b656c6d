// A scene as a small .svg that any browser shows: what headwater placed, without the outlines of
// letters, which are the font's.
#pragma once
#include <string>

#include "headwater/output/picture/scene.h"

namespace headwater::test {

/// Numbers are rounded to a tenth of a point. Cells and photos are rectangles of one colour.
std::string svg_of(const Scene& scene);

}  // namespace headwater::test
