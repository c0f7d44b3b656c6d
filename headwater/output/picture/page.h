// A scene during layout: measures what is added to it and tracks its bounds.
#pragma once
#include <string>

#include "headwater/output/picture/scene.h"
#include "headwater/output/picture/typesetter.h"

namespace headwater {

constexpr double tick_length = 3;

struct Bounds {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

class Page {
 public:
  explicit Page(Typesetter& typesetter) : typesetter_(typesetter) {}

  Text measured(Text text) { return typesetter_.measured(std::move(text)); }
  /// Measures the text, adds it to the page and returns it.
  const Text& put(Text text);
  void put(Photo photo);
  void put(Cells cells);
  void put(const Box& box);
  void put(const Line& line);

  /// The bounds of everything added so far.
  const Bounds& bounds() const { return bounds_; }
  void shift(double right, double down);

  /// The scene, with `margin` to the right of and below everything.
  Scene finished(double margin) &&;

 private:
  void reach(double x, double y);

  Typesetter& typesetter_;
  Scene scene_;
  Bounds bounds_;
  bool empty_ = true;
};

}  // namespace headwater
