// A picture as plain data: everything with its place, in points, y downwards. Drawing it needs no
// more decisions.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "headwater/core/image.h"
#include "headwater/core/matrix.h"
#include "headwater/output/colour.h"

namespace headwater {

/// Cells and the pixels of a .png: two to a point.
inline constexpr int pixels_per_point = 2;

struct Point {
  double x = 0, y = 0;
};

struct Lettering {
  double points = 9;  // size of the font
  bool bold = false;
  Colour colour = black;
};

/// A line of text. (x, y) is its left end, middle or right end, half way up; `angle` turns it
/// around that point, anticlockwise in degrees.
struct Text {
  enum class Anchor { left, middle, right };
  std::string text;
  double x = 0, y = 0;
  Anchor anchor = Anchor::left;
  double angle = 0;
  Lettering lettering = {};
  double width = 0, height = 0;  // as measured

  /// How much of the width lies left of the anchor.
  double left_share() const {
    return anchor == Anchor::left ? 0 : anchor == Anchor::middle ? 0.5 : 1;
  }
  /// Top left, top right, bottom right, bottom left, turned.
  std::array<Point, 4> corners() const;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Colour fill = white;
  bool framed = false;  // a black frame in place of the fill
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

  double width() const { return double(values.columns()) * pixels_x / pixels_per_point; }
  double height() const { return double(values.rows()) * pixels_y / pixels_per_point; }
};

/// An image, pixels_per_point of its pixels to a point.
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
