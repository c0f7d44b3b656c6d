#include "headwater/result/left_out.h"

#include <cmath>

namespace headwater {
namespace {

struct Sums {
  double kept = 0, all = 0;
};

template <class Number>
Sums sums_of(std::span<const Number> row, const std::vector<bool>& kept) {
  Sums sums;
  for (size_t j = 0; j < row.size(); ++j) {
    sums.all += row[j];
    if (kept[j]) sums.kept += row[j];
  }
  return sums;
}

template <class Number>
void renormalise_any(std::span<const Number> row, const std::vector<bool>& kept,
                     std::span<Number> out) {
  const Sums sums = sums_of(row, kept);
  for (size_t j = 0; j < row.size(); ++j)
    out[j] = kept[j] && sums.kept > 0 ? static_cast<Number>(row[j] / sums.kept) : Number{0};
}

}  // namespace

double mass_left_out(std::span<const float> row, const std::vector<bool>& kept) {
  Sums sums;
  for (size_t j = 0; j < row.size(); ++j) {
    const double size = std::abs(double{row[j]});
    sums.all += size;
    if (kept[j]) sums.kept += size;
  }
  return sums.all > 0 ? (sums.all - sums.kept) / sums.all : 0;
}

void renormalise(std::span<const float> row, const std::vector<bool>& kept, std::span<float> out) {
  renormalise_any(row, kept, out);
}

void renormalise(std::span<const double> row, const std::vector<bool>& kept,
                 std::span<double> out) {
  renormalise_any(row, kept, out);
}

}  // namespace headwater
