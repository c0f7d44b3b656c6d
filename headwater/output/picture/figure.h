// The content of a picture before layout: panels of cells, one row as shaded text and bars, one row
// over an image, or curves.
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

/// The tokens or layers along one side. If there are too many to tell apart, `bin` of them share a
/// cell.
struct Axis {
  std::string title;
  std::vector<std::string> labels;
  std::vector<int> places;  // the index of each in the source
  int bin = 1;
  std::vector<bool> special = {};  // tokens of the model, not of the text; may be empty
};

struct Panel {
  std::string title;  // "" for a single one
  Matrix values;      // cells; for bins larger than 1, the largest value of each, or that of the
                      // largest size
  double top = 0;     // of its own scale; 0: it has that of the figure
};

/// Panels on the same axes, and on the same scale unless they have their own.
struct Grid {
  Axis x, y;
  std::vector<Panel> panels;
  bool square = true;  // cells are squares: both axes are tokens
  int columns = 0;     // of panels; 0: as many as look good
};

/// One row: the running text, shaded, and a bar for each token if there are few.
struct Strip {
  std::vector<Piece> pieces;
  std::vector<std::string> labels;
  std::vector<float> values;
  std::vector<bool> kept;  // the others appear in the text without a shade, and have no bar
  std::vector<float> text_values = {};  // as `values`, but of pieces: tokens that share a character
  std::vector<bool> text_kept = {};     //   count as one
  int output = -1;                      // the piece of the output token itself, or -1
  bool bars = true;
};

struct OverlayPanel {
  std::string title;  // "" for a single one
  Matrix values;      // of the patches, rows x columns; NaN is not shown
  ImageBox seen;      // the area that the patches cover
  std::string note;   // the share of the row that belongs to no patch
};

/// One row of a vision model: the image itself, then a panel for each set of values over it.
struct Overlay {
  Image image;
  double width = 0, height = 0;  // in the units of `seen`: the original's pixels
  std::vector<OverlayPanel> panels;
  bool has_signs = false;
};

struct Curve {
  std::string name;
  std::vector<double> values;  // NaN is a gap
  Colour colour = black;
};

/// Curves over the same places, with one scale.
struct CurvePanel {
  std::string title, x_title, y_title;
  std::vector<std::string> places;
  double bottom = 0, top = 1;
  std::vector<Curve> curves;
  double level = 0;  // a horizontal line, if it is within the scale
};

/// Panels side by side with one legend: a name has the same colour in all of them.
struct Curves {
  std::vector<CurvePanel> panels;
};

struct Figure {
  std::string title;
  std::vector<std::string> details;  // the grey line under the title, in parts that are not broken
  std::string caption;               // of the colour bar
  double top = 1;                    // the value at the upper end of the scale
  bool cut = false;                  // some values are above `top` and look like it
  std::variant<Grid, Strip, Overlay, Curves> body;
  double bottom = 0;          // the value at the lower end: 0 unless values are alike or have signs
  bool has_signs = false;     // from blue at -top over white at 0 to red at top
  Ramp ramp = Ramp::viridis;  // of cells without signs
};

/// The most pixels for the cells along one side of a panel, if there are `panels` of them.
int plot_pixels(int panels);

/// Throws Error for metrics and info, which have no picture, for panels that differ in shape, and
/// for a filter that leaves nothing. `path` names the picture in the message. Memory grows with the
/// cells shown, not with n x n.
Figure figure_of(ResultView result, const Filter& filter, const std::string& path);

}  // namespace headwater
