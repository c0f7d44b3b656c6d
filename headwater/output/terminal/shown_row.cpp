#include "headwater/output/terminal/shown_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/output/shade.h"
#include "headwater/result/left_out.h"

namespace headwater {

ShownRow::ShownRow(const Attribution& result, const Matrix& matrix, int r, const Filter& filter)
    : kept(headwater::kept(filter, result.source.tokens)), has_signs(result.has_signs) {
  const std::span<const float> row = matrix.row(r);
  values.assign(row.begin(), row.end());
  mass = mass_left_out(row, kept);
  if (filter.any() && filter.renormalise && !has_signs) renormalise(row, kept, values);
  for (size_t j = 0; j < values.size(); ++j) {
    if (!std::isfinite(values[j])) values[j] = 0;
    if (kept[j]) top = std::max<double>(top, std::abs(values[j]));
  }
  full = full_shade(values, kept);
}

Colour ShownRow::shade(double value) const {
  return colour_at(has_signs ? Ramp::red_blue_shade : Ramp::shade, value / full);
}

std::string number_text(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 1000 && std::abs(value) < 1e9) return fmt::format("{:.0f}", value);
  return fmt::format("{:#.4g}", value);
}

std::string background(Colour c) {
  return fmt::format("\x1b[48;2;{};{};{}m\x1b[38;2;0;0;0m", c.red, c.green, c.blue);
}

}  // namespace headwater
