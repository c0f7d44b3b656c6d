// A scene onto a Cairo canvas, whatever is behind it.
#pragma once
#include <cairo.h>

#include "headwater/output/scene.h"
#include "headwater/output/typesetter.h"

namespace headwater {

/// Draws the scene in points on a white ground. Whether that went well is cairo_status(canvas).
void draw(const Scene& scene, Typesetter& typesetter, cairo_t* canvas);

}  // namespace headwater
