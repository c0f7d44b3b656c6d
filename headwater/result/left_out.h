// What a filter does to a row of values: what goes, how much of the mass went with it, what is
// left.
#pragma once
#include <span>
#include <vector>

#include "headwater/core/matrix.h"

namespace headwater {

/// The share, in [0, 1], of the row's sum in the columns that are not kept; 0 for a row of zeros.
double mass_left_out(std::span<const float> row, const std::vector<bool>& kept);

/// Writes the row to `out` with the columns that are not kept 0 and the others divided by their
/// sum, where that is not 0.
void renormalise(std::span<const float> row, const std::vector<bool>& kept, std::span<float> out);
void renormalise(std::span<const double> row, const std::vector<bool>& kept, std::span<double> out);

}  // namespace headwater
