// Draws a scene onto any Cairo canvas.
#pragma once
#include <string>

#include "headwater/output/picture/canvas.h"
#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

/// Draws the scene in points on a white background. Check cairo_status(canvas.cairo) for errors.
void draw(const Scene& scene, Typesetter& typesetter, const Canvas& canvas);

/// The pixels as a .png. Throws Error if Cairo fails.
std::string png_of(const Cells& cells);
std::string png_of(const Photo& photo);

}  // namespace headwater
