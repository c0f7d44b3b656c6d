// Text of any script, measured and drawn by Pango.
#pragma once
#include <cairo.h>
#include <pango/pangocairo.h>

#include <memory>
#include <string>

#include "headwater/output/scene.h"

namespace headwater {

/// Measures and draws with the same fonts, unhinted, so that .png, .svg and .pdf come out alike.
/// Text is text: nothing in it is taken for markup. For one thread.
class Typesetter {
 public:
  /// Throws Error if the machine has no font at all.
  Typesetter();

  /// The text with its width and height filled in.
  Text measured(Text text);

  void draw(cairo_t* canvas, const Text& text);

 private:
  struct Release {
    void operator()(void* object) const { g_object_unref(object); }
  };
  struct Free {
    void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
  };
  void set(const Text& text);

  std::unique_ptr<PangoContext, Release> context_;
  std::unique_ptr<PangoLayout, Release> layout_;
  std::unique_ptr<PangoFontDescription, Free> font_;
};

}  // namespace headwater
