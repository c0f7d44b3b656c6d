#include "headwater/output/page/image_document.h"

#include <cairo.h>

#include <memory>
#include <new>

#include "headwater/output/page/base64.h"

namespace headwater {
namespace {

struct DestroySurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

cairo_status_t append_bytes(void* out, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

std::string png_file(const Image& image) {
  const std::unique_ptr<cairo_surface_t, DestroySurface> surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, image.width, image.height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) throw std::bad_alloc();
  unsigned char* pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < image.height; ++y) {
    auto* line = reinterpret_cast<uint32_t*>(pixels + static_cast<std::ptrdiff_t>(y) * stride);
    const std::span<const uint8_t> row = image.row(y);
    for (size_t x = 0; x < static_cast<size_t>(image.width); ++x)
      line[x] = static_cast<uint32_t>(row[3 * x] << 16 | row[3 * x + 1] << 8 | row[3 * x + 2]);
  }
  cairo_surface_mark_dirty(surface.get());
  std::string bytes;
  if (cairo_surface_write_to_png_stream(surface.get(), append_bytes, &bytes) !=
      CAIRO_STATUS_SUCCESS)
    throw std::bad_alloc();
  return bytes;
}

}  // namespace

Document image_document(const PatchGrid& grid) {
  Document out;
  out.fields = {
      {"uri", "data:image/png;base64," + base64_of(png_file(grid.image))},
      {"width", int64_t{grid.width}},
      {"height", int64_t{grid.height}},
      {"seen", std::vector<double>{grid.seen.x, grid.seen.y, grid.seen.width, grid.seen.height}},
      {"rows", int64_t{grid.rows}},
      {"columns", int64_t{grid.columns}},
      {"prefix", int64_t{grid.prefix}},
  };
  return out;
}

}  // namespace headwater
