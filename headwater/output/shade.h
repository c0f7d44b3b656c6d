// How dark the background of a token in running text is.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The value that gets the full shade: the largest of those kept, or the second largest where the
/// first is more than three times as large. An output token often keeps most of itself; on a scale
/// up to that, all others would look like nothing. 1 where all are 0. Values must be finite.
double full_shade(std::span<const float> values, const std::vector<bool>& kept);

}  // namespace headwater
