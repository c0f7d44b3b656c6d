// How values become shares of a scale of colours.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The value that gets the full shade: the largest of those kept, but at most three times the
/// second largest. An output token often keeps most of itself; on a scale up to that, all others
/// would look like nothing, and on one up to the second they would look like the first. 1 where all
/// are 0. Values must be finite.
double full_shade(std::span<const float> values, const std::vector<bool>& kept);

/// The values at the ends of a scale of colours.
struct ScaleEnds {
  double bottom = 0, top = 1;
  double share(double value) const { return (value - bottom) / (top - bottom); }
};

/// The scale for patches of an image: from the smallest value to full_shade, because rollout gives
/// every patch a share, and on a scale from 0 all would look alike. From 0 where the smallest is
/// more than 95 % of that, or negative: differences of a few per cent are not blown up. Values that
/// are not finite do not count.
ScaleEnds patch_scale(std::span<const float> values);

}  // namespace headwater
