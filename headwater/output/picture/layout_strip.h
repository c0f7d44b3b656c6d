// One row: shaded text and bars.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/page.h"

namespace headwater {

/// Places the running text from (0, 0) on, in lines, each token shaded by its value. If the strip
/// has bars, adds one below for each kept token. Returns the bounds of the text.
Bounds place_strip(Page& page, const Strip& strip, double top, Ramp ramp);

/// The part of a ramp on which black text is still readable: all of those made for it.
double share_behind_text(Ramp ramp);

}  // namespace headwater
