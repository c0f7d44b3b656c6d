// Images with attribution over them.
#pragma once
#include "headwater/output/picture/blend.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Places the image itself at (0, 0) and the panels after it, up to four in a line, titles above
/// and notes below. Returns the bounds of the first line without titles and notes.
Bounds place_overlay(Page& page, const Overlay& overlay, ScaleEnds scale);

}  // namespace headwater
