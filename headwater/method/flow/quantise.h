// Attention weights as exact integers.
#pragma once
#include <cstdint>
#include <span>

namespace headwater {

/// out[j] = weights[j] / sum in units of 2^-30, rounded down. Units left over go to the largest
/// remainders; ties go to the lower column. A zero stays zero. out sums to exactly 2^30, or to 0 if
/// all weights are 0. Weights must be finite and not negative.
void quantise(std::span<const float> weights, std::span<int32_t> out);

}  // namespace headwater
