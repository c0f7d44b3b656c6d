// Spearman's rank correlation, ties at their average rank.
#pragma once
#include <span>

namespace headwater {

/// The correlation of the average ranks; NaN if either is constant.
double spearman(std::span<const float> a, std::span<const float> b);

}  // namespace headwater
