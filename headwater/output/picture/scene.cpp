#include "headwater/output/picture/scene.h"

#include <cmath>
#include <numbers>

namespace headwater {

std::array<Point, 4> Text::corners() const {
  const double turn = angle * std::numbers::pi / 180;
  const Point along = {std::cos(turn), -std::sin(turn)}, down = {std::sin(turn), std::cos(turn)};
  const auto at = [&](double right, double below) {
    return Point{x + along.x * right + down.x * below, y + along.y * right + down.y * below};
  };
  const double left = -left_share() * width, right = left + width;
  return {at(left, -height / 2), at(right, -height / 2), at(right, height / 2),
          at(left, height / 2)};
}

Colour Cells::colour(double value) const {
  const bool has_signs = ramp == Ramp::red_blue || ramp == Ramp::red_blue_shade;
  return colour_at(ramp, has_signs ? value / top : (value - bottom) / (top - bottom));
}

}  // namespace headwater
