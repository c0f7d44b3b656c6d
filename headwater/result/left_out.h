// What a filter does to a row of values: the mass it leaves out, and the row that is left.
#pragma once
#include <span>
#include <vector>

#include "headwater/core/matrix.h"

namespace headwater {

/// The share of the row's sum in columns that are not kept, in [0, 1], with negative values counted
/// as positive; 0 for a row of zeros.
double mass_left_out(std::span<const float> row, const std::vector<bool>& kept);

/// Writes the row to `out`: columns that are not kept become 0, the others are divided by their
/// sum. If that sum is 0, all become 0.
void renormalise(std::span<const float> row, const std::vector<bool>& kept, std::span<float> out);
void renormalise(std::span<const double> row, const std::vector<bool>& kept, std::span<double> out);

}  // namespace headwater
