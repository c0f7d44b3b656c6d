#include "headwater/output/draw.h"

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

// The cells at full size: viewers of .svg and .pdf smooth images that they have to enlarge.
std::unique_ptr<cairo_surface_t, DestroySurface> image_of(const Cells& cells) {
  const int width = cells.values.columns() * cells.pixels_x,
            height = cells.values.rows() * cells.pixels_y;
  std::unique_ptr<cairo_surface_t, DestroySurface> image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) return image;
  unsigned char* pixels = cairo_image_surface_get_data(image.get());
  const int stride = cairo_image_surface_get_stride(image.get());
  for (int y = 0; y < height; ++y) {
    const std::span<const float> row = cells.values.row(y / cells.pixels_y);
    uint32_t* line = reinterpret_cast<uint32_t*>(pixels + std::ptrdiff_t{y} * stride);
    for (int j = 0; j < cells.values.columns(); ++j) {
      const Colour c = colour_at(cells.ramp, row[static_cast<size_t>(j)] / cells.top);
      const uint32_t pixel = uint32_t{c.red} << 16 | uint32_t{c.green} << 8 | c.blue;
      for (int x = 0; x < cells.pixels_x; ++x) *line++ = pixel;
    }
  }
  cairo_surface_mark_dirty(image.get());
  return image;
}

void draw(cairo_t* canvas, const Cells& cells) {
  const auto image = image_of(cells);
  cairo_save(canvas);
  cairo_translate(canvas, cells.x, cells.y);
  cairo_scale(canvas, 1.0 / pixels_per_point, 1.0 / pixels_per_point);
  cairo_set_source_surface(canvas, image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(canvas), CAIRO_FILTER_NEAREST);
  cairo_paint(canvas);
  cairo_restore(canvas);
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
  for (const Cells& cells : scene.cells) draw(cairo, cells);
  for (const Box& box : scene.boxes) draw(cairo, box);
  for (const Line& line : scene.lines) draw(cairo, line);
  for (const Text& text : scene.texts) typesetter.draw(canvas, text);
}

}  // namespace headwater
