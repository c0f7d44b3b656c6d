// What a picture shows, before anything is placed: panels of cells, one row as shaded text and
// bars, one row laid over an image, or curves.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "headwater/core/image.h"
#include "headwater/core/matrix.h"
#include "headwater/output/colour.h"
#include "headwater/result/filter.h"
#include "headwater/result/result.h"
#include "headwater/result/token_text.h"

namespace headwater {

/// The tokens or layers along one side. `bin` of them share a cell where there are more than can be
/// told apart.
struct Axis {
  std::string title;
  std::vector<std::string> labels;
  std::vector<int> places;  // the number of each in the source
  int bin = 1;
};

struct Panel {
  std::string title;  // "" for a single one
  Matrix values;      // cells; where bins are larger than 1, the largest value of each
};

/// Panels on the same axes and the same scale.
struct Grid {
  Axis x, y;
  std::vector<Panel> panels;
  bool square = true;  // cells are squares: both axes are tokens
};

/// One row: the running text, shaded, and a bar for each token where they are few.
struct Strip {
  std::vector<Piece> pieces;
  std::vector<std::string> labels;
  std::vector<float> values;
  std::vector<bool> kept;  // those left out stand in the text without a shade and have no bar
  int output = -1;         // the output token itself, or -1
  bool bars = true;
};

struct OverlayPanel {
  std::string title;  // "" for a single one
  Matrix values;      // of the patches, rows x columns; NaN is not shown
  ImageBox seen;      // where they lie
  std::string note;   // what of the row lies in no patch
};

/// One row of a vision model: the image as it is, then a panel for each set of values laid over it.
struct Overlay {
  Image image;
  double width = 0, height = 0;  // in the units of `seen`: the original's pixels
  std::vector<OverlayPanel> panels;
};

struct Curve {
  std::string name;
  std::vector<double> values;  // NaN is a gap
  Colour colour = black;
};

/// Curves over the same places, and the scale they share.
struct CurvePanel {
  std::string title, x_title, y_title;
  std::vector<std::string> places;
  double bottom = 0, top = 1;
  std::vector<Curve> curves;
  double level = 0;  // a line across, if it lies within the scale
};

/// Panels side by side, with one legend: a name has the same colour in all of them.
struct Curves {
  std::vector<CurvePanel> panels;
};

struct Figure {
  std::string title;
  std::vector<std::string> details;  // the grey line under the title, in parts that stay whole
  std::string caption;               // of the colour bar
  double top = 1;                    // the value at the upper end of the one scale,
  bool cut = false;                  // (some values lie above `top` and look like it)
  std::variant<Grid, Strip, Overlay, Curves> body;
  double bottom = 0;  // and at its lower end: 0 except for overlays
};

/// Cells of at most this many pixels side by side in one panel of `panels`.
int plot_pixels(int panels);

/// Throws Error for metrics and info, which have no picture, for panels that differ in shape, and
/// for a filter that leaves nothing. `path` names the picture in the message. Memory: the cells
/// that are shown, not n x n.
Figure figure_of(ResultView result, const Filter& filter, const std::string& path);

}  // namespace headwater
