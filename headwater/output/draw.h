// A scene onto a Cairo canvas, whatever is behind it.
#pragma once
#include "headwater/output/canvas.h"
#include "headwater/output/scene.h"
#include "headwater/output/typesetter.h"

namespace headwater {

/// Draws the scene in points on a white ground. Whether that went well is
/// cairo_status(canvas.cairo).
void draw(const Scene& scene, Typesetter& typesetter, const Canvas& canvas);

}  // namespace headwater
