#include "headwater/output/picture/picture.h"

#include <cairo-pdf.h>

#include <cmath>
#include <memory>

#include "headwater/core/fail.h"
#include "headwater/output/picture/draw.h"
#include "headwater/output/picture/surface.h"

namespace headwater {
namespace {

struct DestroyContext {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
using Context = std::unique_ptr<cairo_t, DestroyContext>;

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  // An exception must not pass through Cairo, which is C.
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

void check(cairo_status_t status, const std::string& path) {
  if (status != CAIRO_STATUS_SUCCESS)
    fail("{}: could not be drawn ({}), expected Cairo to draw it; use .json", path,
         cairo_status_to_string(status));
}

void draw_on(cairo_surface_t* surface, double scale, const Scene& scene, Typesetter& typesetter,
             const std::string& path) {
  check(cairo_surface_status(surface), path);
  const Context context(cairo_create(surface));
  cairo_scale(context.get(), scale, scale);
  draw(scene, typesetter, {context.get()});
  check(cairo_status(context.get()), path);
}

}  // namespace

std::string png_of(const Scene& scene, Typesetter& typesetter, const std::string& path) {
  const double width = scene.width * pixels_per_point, height = scene.height * pixels_per_point;
  constexpr double most = 32767;
  if (width > most || height > most)
    fail(
        "{}: would be {:.0f} x {:.0f} pixels, expected at most {:.0f} a side; ask for fewer rows "
        "or use .svg",
        path, width, height, most);
  const Surface surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(width)), static_cast<int>(std::ceil(height))));
  draw_on(surface.get(), pixels_per_point, scene, typesetter, path);
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes), path);
  return bytes;
}

std::string pdf_of(const Scene& scene, Typesetter& typesetter, const std::string& path) {
  std::string bytes;
  const Surface surface(
      cairo_pdf_surface_create_for_stream(append, &bytes, scene.width, scene.height));
  check(cairo_surface_status(surface.get()), path);
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE,
                                 "2000-01-01T00:00:00Z");
  draw_on(surface.get(), 1, scene, typesetter, path);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()), path);
  return bytes;
}

}  // namespace headwater
