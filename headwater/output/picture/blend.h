// Blends attribution over an image, pixel by pixel.
#pragma once
#include "headwater/output/picture/figure.h"
#include "headwater/output/shade.h"

namespace headwater {

/// What a panel shows: the image and all that the model saw, which may extend past its edges.
ImageBox extent_of(const Overlay& overlay);

/// `part` of the image, in the overlay's units, as width x height pixels. Each is the mean of what
/// it covers; black outside the image, as models see it.
Image sampled(const Overlay& overlay, const ImageBox& part, int width, int height);

/// The panel's colours over a grey copy of the image. Patches have sharp edges, because a patch is
/// one value. What the model did not see is nearly white.
Image blended(const Overlay& overlay, const OverlayPanel& panel, ScaleEnds scale, int width,
              int height);

}  // namespace headwater
