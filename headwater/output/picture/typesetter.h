// Text of any script, measured and drawn by Pango.
#pragma once
#include <memory>
#include <string>

#include "headwater/output/picture/scene.h"

namespace headwater {

// Defined where they are needed, so that layouts can be tested without the headers of Pango and
// Cairo.
struct Canvas;
struct PangoObjects;

/// Measures and draws with the same fonts, unhinted, so that .png, .svg and .pdf come out alike.
/// Text is text: nothing in it is taken for markup. For one thread.
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
