#include "headwater/output/left_out.h"

namespace headwater {
namespace {

struct Sums {
  double kept = 0, all = 0;
};

Sums sums_of(std::span<const float> row, const std::vector<bool>& kept) {
  Sums sums;
  for (size_t j = 0; j < row.size(); ++j) {
    sums.all += row[j];
    if (kept[j]) sums.kept += row[j];
  }
  return sums;
}

}  // namespace

double mass_left_out(std::span<const float> row, const std::vector<bool>& kept) {
  const Sums sums = sums_of(row, kept);
  return sums.all > 0 ? (sums.all - sums.kept) / sums.all : 0;
}

void renormalise(std::span<const float> row, const std::vector<bool>& kept, std::span<float> out) {
  const Sums sums = sums_of(row, kept);
  for (size_t j = 0; j < row.size(); ++j)
    out[j] = kept[j] && sums.kept > 0 ? static_cast<float>(row[j] / sums.kept) : 0.0f;
}

}  // namespace headwater
