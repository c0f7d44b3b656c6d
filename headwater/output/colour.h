// The colours of pictures and of the terminal.
#pragma once

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
  viridis,  // dark violet, green, yellow; for cells. Within 2/255 of matplotlib's table
  shade,    // white to teal; behind text, which stays readable in black
};

/// The colour at `share`, clamped to [0, 1]; NaN counts as 0.
Colour colour_at(Ramp ramp, double share);

}  // namespace headwater
