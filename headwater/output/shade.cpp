#include "headwater/output/shade.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace headwater {

double full_shade(std::span<const float> values, const std::vector<bool>& kept) {
  double first = 0, second = 0;
  for (size_t j = 0; j < values.size(); ++j) {
    if (!kept[j]) continue;
    double value = std::abs(double{values[j]});
    if (value > first) std::swap(value, first);
    if (value > second) second = value;
  }
  if (second > 0) return std::min(first, 3 * second);
  return first > 0 ? first : 1;
}

ScaleEnds patch_scale(std::span<const float> values, bool has_signs) {
  std::vector<float> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](float value) { return std::isfinite(value); });
  if (finite.empty()) return {has_signs ? -1.0 : 0.0, 1, has_signs};
  const double top = full_shade(finite, std::vector<bool>(finite.size(), true));
  if (has_signs) return {-top, top, true};
  const double least = *std::min_element(finite.begin(), finite.end());
  if (least >= 0.95 * top) return {0, 2 * top, false};
  return {std::max(least, 0.0), top, false};
}

}  // namespace headwater
