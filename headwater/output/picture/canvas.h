// What a scene is drawn on: a page or an image of Cairo's.
#pragma once
#include <cairo.h>

namespace headwater {

struct Canvas {
  cairo_t* cairo = nullptr;  // borrowed
};

}  // namespace headwater
