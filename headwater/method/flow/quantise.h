// Attention weights as exact integers.
#pragma once
#include <cstdint>
#include <span>

namespace headwater {

/// out[j] = weights[j] in units of 2^-30, the weights divided by their sum: rounded down, and the
/// units left over go to the largest remainders, of equal ones to the lower column. A zero stays
/// zero. The sum of out is exactly 2^30, or 0 where all weights are. Weights are finite and not
/// negative.
void quantise(std::span<const float> weights, std::span<int32_t> out);

}  // namespace headwater
