#include "headwater/output/shade.h"

#include <utility>

namespace headwater {

double full_shade(std::span<const float> values, const std::vector<bool>& kept) {
  double first = 0, second = 0;
  for (size_t j = 0; j < values.size(); ++j) {
    if (!kept[j]) continue;
    double value = values[j];
    if (value > first) std::swap(value, first);
    if (value > second) second = value;
  }
  if (second > 0 && first > 3 * second) return second;
  return first > 0 ? first : 1;
}

}  // namespace headwater
