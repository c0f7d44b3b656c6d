// Text of any script, measured and drawn by Pango.
#pragma once
#include <memory>
#include <string>

#include "headwater/output/scene.h"

// Declared, not included, so that layouts can be tested without Pango's headers.
struct _cairo;
struct _PangoContext;
struct _PangoLayout;
struct _PangoFontDescription;

namespace headwater {

/// Measures and draws with the same fonts, unhinted, so that .png, .svg and .pdf come out alike.
/// Text is text: nothing in it is taken for markup. For one thread.
class Typesetter {
 public:
  /// Throws Error if the machine has no font at all.
  Typesetter();

  /// The text with its width and height filled in.
  Text measured(Text text);

  void draw(_cairo* canvas, const Text& text);

 private:
  struct Free {
    void operator()(_PangoContext* context) const;
    void operator()(_PangoLayout* layout) const;
    void operator()(_PangoFontDescription* font) const;
  };
  void set(const Text& text);

  std::unique_ptr<_PangoContext, Free> context_;
  std::unique_ptr<_PangoLayout, Free> layout_;
  std::unique_ptr<_PangoFontDescription, Free> font_;
};

}  // namespace headwater
