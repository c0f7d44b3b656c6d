// The target of drawing: a page or an image of Cairo's.
#pragma once
#include <cairo.h>

namespace headwater {

struct Canvas {
  cairo_t* cairo = nullptr;  // borrowed
};

}  // namespace headwater
