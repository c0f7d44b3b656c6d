#include "headwater/output/colour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

struct Stop {
  int place;  // in 0 ... 255
  Colour colour;
};

// Points of matplotlib's table (CC0); straight lines between them are accurate enough.
constexpr Stop viridis[] = {
    {0, {68, 1, 84}},      {15, {72, 23, 105}},   {30, {71, 42, 122}},   {45, {67, 61, 132}},
    {60, {61, 78, 138}},   {75, {53, 94, 141}},   {90, {46, 109, 142}},  {105, {41, 123, 142}},
    {120, {35, 137, 142}}, {135, {31, 151, 139}}, {150, {33, 165, 133}}, {165, {46, 179, 124}},
    {180, {70, 192, 111}}, {195, {101, 203, 94}}, {210, {137, 213, 72}}, {225, {176, 221, 47}},
    {240, {216, 226, 25}}, {247, {234, 229, 26}}, {255, {253, 231, 37}},
};
constexpr Stop greys[] = {{0, {250, 250, 250}}, {255, {10, 10, 10}}};
constexpr Stop blues[] = {{0, {246, 250, 255}}, {128, {104, 164, 214}}, {255, {8, 40, 100}}};
constexpr Stop oranges[] = {{0, {255, 248, 240}}, {128, {246, 150, 70}}, {255, {110, 38, 4}}};
constexpr Stop shade[] = {{0, {255, 255, 255}}, {255, {56, 176, 163}}};

// Brewer's RdBu, readable with colour blindness.
constexpr Stop red_blue[] = {{0, {33, 102, 172}},
                             {64, {103, 169, 207}},
                             {128, {255, 255, 255}},
                             {191, {239, 138, 98}},
                             {255, {178, 24, 43}}};
constexpr Stop red_blue_shade[] = {
    {0, {103, 169, 207}}, {128, {255, 255, 255}}, {255, {239, 118, 88}}};

unsigned char between(unsigned char a, unsigned char b, double t) {
  return static_cast<unsigned char>(std::lround(a + (b - a) * t));
}

template <size_t count>
Colour interpolate(const Stop (&stops)[count], double place) {
  const Stop* upper = std::find_if(std::begin(stops) + 1, std::end(stops) - 1,
                                   [&](const Stop& stop) { return place <= stop.place; });
  const Stop& a = *(upper - 1);
  const Stop& b = *upper;
  const double t = (place - a.place) / (b.place - a.place);
  return {between(a.colour.red, b.colour.red, t), between(a.colour.green, b.colour.green, t),
          between(a.colour.blue, b.colour.blue, t)};
}

}  // namespace

Ramp parse_colours(std::string_view text) {
  constexpr std::array<std::string_view, 4> names = {"viridis", "greys", "blues", "oranges"};
  constexpr std::array<Ramp, 4> ramps = {Ramp::viridis, Ramp::greys, Ramp::blues, Ramp::oranges};
  for (size_t k = 0; k < names.size(); ++k)
    if (names[k] == text) return ramps[k];
  fail_usage("unknown colours '{}'{}", text, suggestion(text, names));
}

Colour colour_at(Ramp ramp, double share) {
  const double known = std::isnan(share) ? 0 : share;
  const double place = 255 * std::clamp(known, 0.0, 1.0);
  // 0 is at the white stop.
  const double both = 128 + 127.5 * std::clamp(known, -1.0, 1.0);
  switch (ramp) {
    case Ramp::viridis:
      return interpolate(viridis, place);
    case Ramp::greys:
      return interpolate(greys, place);
    case Ramp::blues:
      return interpolate(blues, place);
    case Ramp::oranges:
      return interpolate(oranges, place);
    case Ramp::shade:
      return interpolate(shade, place);
    case Ramp::red_blue:
      return interpolate(red_blue, std::clamp(both, 0.0, 255.0));
    case Ramp::red_blue_shade:
      return interpolate(red_blue_shade, std::clamp(both, 0.0, 255.0));
  }
  return white;
}

}  // namespace headwater
