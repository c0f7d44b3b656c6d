#include "headwater/output/picture/draw.h"

#include <cstdint>
#include <memory>

namespace headwater {
namespace {

void set_colour(cairo_t* canvas, Colour colour) {
  cairo_set_source_rgb(canvas, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

using Surface = std::unique_ptr<cairo_surface_t, DestroySurface>;

// A surface of width x height pixels. Calls pixel(x, y) row by row.
template <class Pixel>
Surface surface_of(int width, int height, Pixel pixel) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) return surface;
  unsigned char* pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < height; ++y) {
    uint32_t* line = reinterpret_cast<uint32_t*>(pixels + std::ptrdiff_t{y} * stride);
    for (int x = 0; x < width; ++x) *line++ = pixel(x, y);
  }
  cairo_surface_mark_dirty(surface.get());
  return surface;
}

uint32_t packed(int red, int green, int blue) {
  return static_cast<uint32_t>(red << 16 | green << 8 | blue);
}

void draw_at(cairo_t* canvas, const Surface& surface, double x, double y) {
  cairo_save(canvas);
  cairo_translate(canvas, x, y);
  cairo_scale(canvas, 1.0 / pixels_per_point, 1.0 / pixels_per_point);
  cairo_set_source_surface(canvas, surface.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(canvas), CAIRO_FILTER_NEAREST);
  cairo_paint(canvas);
  cairo_restore(canvas);
}

// At full size, because viewers of .svg and .pdf smooth images that they enlarge.
void draw(cairo_t* canvas, const Cells& cells) {
  uint32_t colour = 0;
  const auto pixel = [&](int x, int y) {
    if (x % cells.pixels_x == 0) {
      const Colour c =
          colour_at(cells.ramp, cells.values(y / cells.pixels_y, x / cells.pixels_x) / cells.top);
      colour = packed(c.red, c.green, c.blue);
    }
    return colour;
  };
  draw_at(canvas,
          surface_of(cells.values.columns() * cells.pixels_x, cells.values.rows() * cells.pixels_y,
                     pixel),
          cells.x, cells.y);
}

void draw(cairo_t* canvas, const Photo& photo) {
  const auto pixel = [&](int x, int y) {
    const uint8_t* rgb = photo.image.row(y).data() + std::ptrdiff_t{3} * x;
    return packed(rgb[0], rgb[1], rgb[2]);
  };
  draw_at(canvas, surface_of(photo.image.width, photo.image.height, pixel), photo.x, photo.y);
}

void draw(cairo_t* canvas, const Box& box) {
  const double inset = box.framed ? 0.4 : 0;
  cairo_rectangle(canvas, box.x + inset, box.y + inset, box.width - 2 * inset,
                  box.height - 2 * inset);
  set_colour(canvas, box.framed ? black : box.fill);
  if (box.framed)
    cairo_stroke(canvas);
  else
    cairo_fill(canvas);
}

void draw(cairo_t* canvas, const Line& line) {
  set_colour(canvas, line.colour);
  cairo_set_line_width(canvas, line.width);
  cairo_move_to(canvas, line.from.x, line.from.y);
  cairo_line_to(canvas, line.to.x, line.to.y);
  cairo_stroke(canvas);
}

}  // namespace

void draw(const Scene& scene, Typesetter& typesetter, const Canvas& canvas) {
  cairo_t* cairo = canvas.cairo;
  set_colour(cairo, white);
  cairo_paint(cairo);
  cairo_set_line_width(cairo, 0.8);
  for (const Photo& photo : scene.photos) draw(cairo, photo);
  for (const Cells& cells : scene.cells) draw(cairo, cells);
  for (const Box& box : scene.boxes) draw(cairo, box);
  for (const Line& line : scene.lines) draw(cairo, line);
  for (const Text& text : scene.texts) typesetter.draw(canvas, text);
}

}  // namespace headwater
