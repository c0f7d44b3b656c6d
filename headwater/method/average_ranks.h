// Ranks and their correlation, the parts of Spearman's.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The rank of each value, from 1; equal values share the mean of their ranks.
std::vector<double> average_ranks(std::span<const float> values);

/// Pearson's correlation; NaN if either is constant or both are empty. The sizes must be equal.
double correlation(std::span<const double> a, std::span<const double> b);

}  // namespace headwater
