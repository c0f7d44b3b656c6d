// A scene onto a Cairo canvas, whatever is behind it.
#pragma once
#include "headwater/output/picture/canvas.h"
#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

/// Draws the scene in points on a white ground. Whether that went well is
/// cairo_status(canvas.cairo).
void draw(const Scene& scene, Typesetter& typesetter, const Canvas& canvas);

}  // namespace headwater
