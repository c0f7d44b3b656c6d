// How values map to a colour scale.
#pragma once
#include <span>
#include <vector>

#include "headwater/output/colour.h"

namespace headwater {

/// The value with the full shade: the largest of those kept, but at most three times the second
/// largest. An output token often keeps most of itself. On a scale up to that value, all others
/// would look like nothing; on one up to the second largest, they would look like the first. 1 if
/// all are 0. Values must be finite; of negative ones the size counts.
double full_shade(std::span<const float> values, const std::vector<bool>& kept);

/// The values at the ends of a colour scale, which is red and blue with white at 0 if signed.
struct ScaleEnds {
  double bottom = 0, top = 1;
  bool has_signs = false;
  Ramp ramp = Ramp::viridis;  // without signs
  Colour colour(double value) const {
    return has_signs ? colour_at(Ramp::red_blue, value / top)
                     : colour_at(ramp, (value - bottom) / (top - bottom));
  }
};

/// The scale for patches of an image: from the smallest value to full_shade. Rollout gives every
/// patch a share, so on a scale from 0 all would look alike. It starts at 0 if the smallest is
/// negative. If the smallest is at least 95 % of full_shade, it goes from 0 to twice that, so that
/// differences of a few per cent are not exaggerated and all are in its middle. Signed values have
/// as much below 0 as above. Ignores values that are not finite.
ScaleEnds patch_scale(std::span<const float> values, bool has_signs);

}  // namespace headwater
