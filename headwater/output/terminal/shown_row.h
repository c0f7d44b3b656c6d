// One row of values as a terminal shows it.
#pragma once
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/output/colour.h"
#include "headwater/result/attribution.h"
#include "headwater/result/filter.h"

namespace headwater {

struct ShownRow {
  std::vector<bool> kept;
  Vector values;  // finite, and renormalised if the filter says so
  double top = 0, mass = 0;
  double full = 1;  // the value that gets the full shade
  bool has_signs;

  /// Row `r` of `values`, one of the matrices of `result`.
  ShownRow(const Attribution& result, const Matrix& values, int r, const Filter& filter);

  Colour shade(double value) const;
};

/// "0.1234": four significant digits.
std::string number_text(double value);

/// The escapes that put black text on this colour.
std::string background(Colour colour);

/// The rows up to each layer, side by side: a line for each token, a column for each layer. In
/// colour: shades without numbers, of as many layers as `width` columns hold.
std::string layers_table(const Attribution& result, int r, const Filter& filter, bool colour,
                         int width);

}  // namespace headwater
