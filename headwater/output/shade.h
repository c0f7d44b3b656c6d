// How values map to a colour scale.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The value with the full shade: the largest of those kept, but at most three times the second
/// largest. An output token often keeps most of itself. On a scale up to that value, all others
/// would look like nothing; on one up to the second largest, they would look like the first. 1 if
/// all are 0. Values must be finite.
double full_shade(std::span<const float> values, const std::vector<bool>& kept);

/// The values at the ends of a colour scale.
struct ScaleEnds {
  double bottom = 0, top = 1;
  double share(double value) const { return (value - bottom) / (top - bottom); }
};

/// The scale for patches of an image: from the smallest value to full_shade. Rollout gives every
/// patch a share, so on a scale from 0 all would look alike. It starts at 0 if the smallest is
/// negative or more than 95 % of full_shade, so that differences of a few per cent are not
/// exaggerated. Ignores values that are not finite.
ScaleEnds patch_scale(std::span<const float> values);

}  // namespace headwater
