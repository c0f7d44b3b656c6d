// Measures and draws text of any script with Pango.
#pragma once
#include <memory>
#include <string>

#include "headwater/output/picture/scene.h"

namespace headwater {

// Defined elsewhere, so that layouts can be tested without the headers of Pango and Cairo.
struct Canvas;
struct PangoObjects;

/// Measures and draws with the same unhinted fonts, so .png, .svg and .pdf look alike. Never
/// interprets text as markup. For one thread at a time.
class Typesetter {
 public:
  /// Throws Error if the machine has no font at all.
  Typesetter();
  ~Typesetter();

  /// The text with its width and height filled in.
  Text measured(Text text);

  void draw(const Canvas& canvas, const Text& text);

 private:
  std::unique_ptr<PangoObjects> pango_;
};

}  // namespace headwater
