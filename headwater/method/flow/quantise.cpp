#include "headwater/method/flow/quantise.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "headwater/kernel/flow/flow.h"

namespace headwater {

void quantise(std::span<const float> weights, std::span<int32_t> out) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::ranges::fill(out, 0);
  if (sum <= 0) return;
  std::vector<std::pair<double, size_t>> remainders;
  remainders.reserve(weights.size());
  int64_t left = kernel::flow_unit;
  for (size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] <= 0) continue;
    const double exact = static_cast<double>(weights[j]) / sum * kernel::flow_unit;
    const double down = std::floor(exact);
    out[j] = static_cast<int32_t>(down);
    left -= out[j];
    remainders.emplace_back(down - exact, j);  // negated: sorts the largest remainder first
  }
  // Fewer units are left than there are weights. Rounding in the division can also make it one too
  // many.
  const size_t count = static_cast<size_t>(std::abs(left));
  if (left > 0) {
    const auto end =
        remainders.begin() + static_cast<std::ptrdiff_t>(std::min(count, remainders.size()));
    std::nth_element(remainders.begin(), end, remainders.end());
    for (auto it = remainders.begin(); it != end; ++it) ++out[it->second];
  } else if (left < 0) {
    std::sort(remainders.rbegin(), remainders.rend());
    for (auto it = remainders.begin(); left < 0 && it != remainders.end(); ++it) {
      if (out[it->second] == 0) continue;
      --out[it->second];
      ++left;
    }
  }
}

}  // namespace headwater
