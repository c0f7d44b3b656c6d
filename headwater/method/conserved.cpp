#include "headwater/method/conserved.h"

#include <fmt/format.h>

#include <cmath>

namespace headwater {
namespace {

// Of the sum of all absolute values. Rounding in float stays far below it.
constexpr double most_lost = 1e-4;

}  // namespace

std::optional<std::string> note_lost(std::span<const float> values, double biases,
                                     double explained) {
  double sum = 0, size = std::abs(biases) + std::abs(explained);
  for (const float value : values) {
    sum += double{value};
    size += std::abs(double{value});
  }
  const double lost = explained - sum - biases;
  if (std::abs(lost) <= most_lost * size) return {};
  return fmt::format(
      "tokens ({:.6g}) and biases ({:.6g}) sum to {:.6g}, not to the output {:.6g}: rounding lost "
      "{:.2g}",
      sum, biases, sum + biases, explained, lost);
}

}  // namespace headwater
