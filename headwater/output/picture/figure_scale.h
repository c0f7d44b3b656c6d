// The values at the ends of a figure's colour scale.
#pragma once
#include "headwater/output/picture/figure.h"

namespace headwater {

/// Ends the scale at `top`. If the largest value, `most`, is above it, the figure says so.
void set_top(Figure& figure, double top, double most);

/// The scale of a figure whose body is a grid, shared by all panels. It ends at the largest value,
/// or below a few that would leave all others dark; it starts at 0, or at the smallest of values
/// that are much alike.
void set_scale(Figure& figure);

/// Gives each panel a scale of its own if their ranges differ by more than three times. Returns
/// whether it did.
bool set_own_scales(Figure& figure);

}  // namespace headwater
