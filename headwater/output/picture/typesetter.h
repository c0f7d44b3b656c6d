// Measures and draws text of any script with Pango.
#pragma once
#include <memory>
#include <set>
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

  /// The characters measured so far that no font here has.
  const std::set<char32_t>& missing() const { return missing_; }

 private:
  void find_missing(const std::string& text);

  std::unique_ptr<PangoObjects> pango_;
  std::set<char32_t> missing_;
};

}  // namespace headwater
