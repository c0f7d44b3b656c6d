#include "headwater/output/picture/draw.h"

#include <cstdint>
#include <exception>
#include <memory>

#include "headwater/core/fail.h"
#include "headwater/output/picture/surface.h"

namespace headwater {
namespace {

void set_colour(cairo_t* canvas, Colour colour) {
  cairo_set_source_rgb(canvas, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

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
Surface surface_of(const Cells& cells) {
  uint32_t colour = 0;
  const auto pixel = [&](int x, int y) {
    if (x % cells.pixels_x == 0) {
      const Colour c = cells.colour(cells.values(y / cells.pixels_y, x / cells.pixels_x));
      colour = packed(c.red, c.green, c.blue);
    }
    return colour;
  };
  return surface_of(cells.values.columns() * cells.pixels_x, cells.values.rows() * cells.pixels_y,
                    pixel);
}

Surface surface_of(const Photo& photo) {
  const auto pixel = [&](int x, int y) {
    const uint8_t* rgb = photo.image.row(y).data() + std::ptrdiff_t{3} * x;
    return packed(rgb[0], rgb[1], rgb[2]);
  };
  return surface_of(photo.image.width, photo.image.height, pixel);
}

cairo_status_t append_bytes(void* bytes, const unsigned char* data, unsigned length) {
  // An exception must not pass through Cairo, which is C.
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

std::string png_of_surface(const Surface& surface) {
  std::string bytes;
  const cairo_status_t status =
      cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes);
  if (status != CAIRO_STATUS_SUCCESS)
    fail("an image within the picture could not be made ({}), expected Cairo to make it; use .json",
         cairo_status_to_string(status));
  return bytes;
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

std::string png_of(const Cells& cells) { return png_of_surface(surface_of(cells)); }

std::string png_of(const Photo& photo) { return png_of_surface(surface_of(photo)); }

void draw(const Scene& scene, Typesetter& typesetter, const Canvas& canvas) {
  cairo_t* cairo = canvas.cairo;
  set_colour(cairo, white);
  cairo_paint(cairo);
  cairo_set_line_width(cairo, 0.8);
  for (const Photo& photo : scene.photos) draw_at(cairo, surface_of(photo), photo.x, photo.y);
  for (const Cells& cells : scene.cells) draw_at(cairo, surface_of(cells), cells.x, cells.y);
  for (const Box& box : scene.boxes) draw(cairo, box);
  for (const Line& line : scene.lines) draw(cairo, line);
  for (const Text& text : scene.texts) typesetter.draw(canvas, text);
}

}  // namespace headwater
