// A picture as plain data: everything has its place, in points, with y downwards. Drawing it needs
// no more decisions.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "headwater/core/image.h"
#include "headwater/core/matrix.h"
#include "headwater/output/colour.h"

namespace headwater {

/// Resolution of cells and of a .png.
inline constexpr int pixels_per_point = 2;

struct Point {
  double x = 0, y = 0;
};

struct Lettering {
  double points = 9;  // size of the font
  bool bold = false;
  Colour colour = black;
};

/// A line of text. (x, y) is its left end, middle or right end, at half its height. `angle` rotates
/// it around that point, anticlockwise in degrees.
struct Text {
  enum class Anchor { left, middle, right };
  std::string text;
  double x = 0, y = 0;
  Anchor anchor = Anchor::left;
  double angle = 0;
  Lettering lettering = {};
  double width = 0, height = 0;  // as measured
  double ascent = 0;             // from the top to the line that letters stand on, as measured

  /// The share of the width to the left of the anchor.
  double left_share() const {
    return anchor == Anchor::left ? 0 : anchor == Anchor::middle ? 0.5 : 1;
  }
  /// Top left, top right, bottom right, bottom left, after rotation.
  std::array<Point, 4> corners() const;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Colour fill = white;
  bool framed = false;  // a black frame instead of the fill
};

struct Line {
  Point from, to;
  Colour colour = grey;
  double width = 0.8;
};

/// Coloured cells, each pixels_x by pixels_y pixels.
struct Cells {
  double x = 0, y = 0;
  Matrix values;
  int pixels_x = 1, pixels_y = 1;
  double top = 1;
  Ramp ramp = Ramp::viridis;
  double bottom = 0;  // the value at the lower end, unless the ramp has signs

  Colour colour(double value) const;
  double width() const { return double(values.columns()) * pixels_x / pixels_per_point; }
  double height() const { return double(values.rows()) * pixels_y / pixels_per_point; }
};

/// An image, with pixels_per_point of its pixels to a point.
struct Photo {
  double x = 0, y = 0;
  Image image;

  double width() const { return double(image.width) / pixels_per_point; }
  double height() const { return double(image.height) / pixels_per_point; }
};

/// Drawn in this order: photos, cells, boxes, lines, texts.
struct Scene {
  double width = 0, height = 0;
  std::vector<Photo> photos;
  std::vector<Cells> cells;
  std::vector<Box> boxes;
  std::vector<Line> lines;
  std::vector<Text> texts;
};

}  // namespace headwater
