// A surface of Cairo's that ends with its owner.
#pragma once
#include <cairo.h>

#include <memory>

namespace headwater {

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, DestroySurface>;

}  // namespace headwater
