// The colours of pictures and of the terminal.
#pragma once
#include <string_view>

namespace headwater {

/// Red, green and blue, each in 0 ... 255.
struct Colour {
  unsigned char red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

inline constexpr Colour black = {0, 0, 0};
inline constexpr Colour grey = {110, 110, 110};
inline constexpr Colour light_grey = {190, 190, 190};
inline constexpr Colour white = {255, 255, 255};

/// How a share of the largest value maps to a colour.
enum class Ramp {
  viridis,         // dark violet, green, yellow; for cells. Within 2/255 of matplotlib's table
  greys,           // white to black; for cells in print
  blues,           // white to dark blue
  oranges,         // white to brown
  shade,           // white to teal; behind text, which stays readable in black
  red_blue,        // of signed values: blue at -1, white at 0, red at 1; for cells
  red_blue_shade,  // the same behind text
};

/// Parses "viridis", "greys", "blues" or "oranges". Throws Error (usage) with the nearest word.
Ramp parse_colours(std::string_view text);

/// The colour at `share`, clamped to [0, 1], or to [-1, 1] for signed values; NaN counts as 0.
Colour colour_at(Ramp ramp, double share);

}  // namespace headwater
