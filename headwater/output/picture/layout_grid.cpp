#include "headwater/output/picture/layout_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headwater {
namespace {

constexpr double plot_gap = 18;  // between plots
constexpr double shortest = 72;  // a plot of one token is still a plot
constexpr double widest_title = 160;
constexpr int largest_cell = 72;   // pixels
constexpr int tallest_line = 48;   // pixels of a layer's or panel's line
constexpr int own_bar_width = 7;   // of a panel's own colour bar
constexpr double own_bar_gap = 5;  // between a panel and its bar
constexpr double small_points = 7;

struct Labels {
  std::vector<Text> texts;      // measured, not placed
  std::vector<double> offsets;  // of each text along the axis
};

// Labels every `step`-th token. If some have no label, the others get numbers: a name alone would
// not say which token it is.
Labels every(Page& page, const Axis& axis, double pitch, int step, double points) {
  Labels out;
  for (size_t k = 0; k < axis.labels.size(); k += static_cast<size_t>(step)) {
    const std::string place = std::to_string(axis.places[k]);
    const bool numbered = step > 1 && axis.labels[k].find(place) == std::string::npos;
    out.texts.push_back(
        page.measured({.text = numbered ? place + " " + axis.labels[k] : axis.labels[k],
                       .lettering = {.points = points}}));
    out.offsets.push_back((static_cast<double>(k) + 0.5) * pitch);
  }
  return out;
}

// As many labels as fit if each needs `slant` times its height.
Labels fitting(Page& page, const Axis& axis, double pitch, double slant) {
  const double points = pitch >= 15 * slant / 1.5 ? 9 : 7.5;
  const int count = static_cast<int>(axis.labels.size());
  for (int decade = 1;; decade *= 10)
    for (const int digit : {1, 2, 5}) {
      const int step = decade * digit;
      // Do not measure thousands of labels that cannot fit.
      if (step * pitch < points * slant && step < count) continue;
      Labels labels = every(page, axis, pitch, step, points);
      double tallest = 0;
      for (const Text& text : labels.texts) tallest = std::max(tallest, text.height);
      if (step * pitch >= tallest * slant || step >= count) return labels;
    }
}

int columns_of_plots(int panels) {
  if (panels <= 4) return panels;
  return panels <= 6 || panels == 9 ? 3 : 4;
}

int cell_pixels(int cells, int room, int largest) {
  return std::clamp(room / std::max(cells, 1), 1, largest);
}

class GridLayout {
 public:
  GridLayout(Page& page, Grid& grid, double bottom, double top, Ramp ramp)
      : page_(page), grid_(grid), bottom_(bottom), top_(top), ramp_(ramp) {
    const Matrix& cells = grid.panels.front().values;
    count_ = static_cast<int>(grid.panels.size());
    columns_ = grid.columns > 0 ? grid.columns : columns_of_plots(count_);
    const int room = plot_pixels(count_);
    if (grid.square) {
      const int side = std::max(cells.rows(), cells.columns());
      pixels_x_ = std::max(cell_pixels(side, room, largest_cell),
                           static_cast<int>(shortest * pixels_per_point) / std::max(side, 1));
      pixels_y_ = pixels_x_;
    } else {
      pixels_x_ = cell_pixels(cells.columns(), room, largest_cell);
      pixels_y_ = cell_pixels(cells.rows(), room / 2, tallest_line);
    }
    width_ = double(cells.columns()) * pixels_x_ / pixels_per_point;
    height_ = double(cells.rows()) * pixels_y_ / pixels_per_point;
    x_ = fitting(page, grid.x, double(pixels_x_) / pixels_per_point / grid.x.bin, std::sqrt(2.0));
    y_ = fitting(page, grid.y, double(pixels_y_) / pixels_per_point / grid.y.bin, 1);
  }

  Bounds place() {
    const double column = column_width(), line = line_height();
    Bounds plots{0, 0, 0, 0};
    for (int k = 0; k < count_; ++k) {
      const int across = k % columns_, down = k / columns_;
      const double x = std::round(across * column), y = std::round(down * line);
      place_panel(grid_.panels[static_cast<size_t>(k)], x, y);
      if (k % columns_ == 0) place_y(y);
      if (k + columns_ >= count_) place_x(x, y + height_);
      plots.right = std::max(plots.right, x + (width_ + std::max(width_, titles_width_)) / 2);
      plots.bottom = std::max(plots.bottom, y + height_);
    }
    place_titles(plots);
    return {0, 0, std::max(plots.right, right_), height_};
  }

 private:
  // Titles are shortened to the width of their plots, or of the column that small plots get.
  double column_width() {
    const double room = std::max(width_, widest_title);
    for (Panel& panel : grid_.panels) {
      for (int longest = 40; page_.measured(title(panel)).width > room && longest > 3; longest -= 2)
        panel.title = shortened(panel.title, longest);
      titles_width_ = std::max(titles_width_, page_.measured(title(panel)).width);
    }
    const double bars = has_own_scales(grid_) ? bar_room() : 0;
    return std::max(width_ + bars, titles_width_) + plot_gap;
  }

  // A panel's own colour bar, with the numbers at its ends.
  static std::string bar_text(double value) { return fmt::format("{:.3g}", value); }

  double bar_room() {
    double widest = 0;
    for (const Panel& panel : grid_.panels)
      widest = std::max(
          widest,
          page_.measured({.text = bar_text(panel.top), .lettering = {.points = small_points}})
              .width);
    return own_bar_gap + 1 + own_bar_width + 2 + widest;
  }

  void place_bar(double x, double y, double top) {
    const int steps = std::max(2, static_cast<int>(height_)) * pixels_per_point;
    const double left = std::ceil(x + width_ + own_bar_gap);
    Cells bar{left, y, Matrix(steps, 1), own_bar_width * pixels_per_point, 1, 1, ramp_};
    for (int k = 0; k < steps; ++k)
      bar.values(k, 0) = 1 - static_cast<float>(k) / static_cast<float>(steps - 1);
    page_.put(std::move(bar));
    for (const double value : {0.0, top}) {
      Text text = page_.measured(
          {.text = bar_text(value), .lettering = {.points = small_points, .colour = grey}});
      text.x = left + own_bar_width + 2;
      text.y = value > 0 ? y + text.height / 2 : y + height_ - text.height / 2;
      right_ = std::max(right_, text.x + text.width);
      page_.put(std::move(text));
    }
  }

  double line_height() {
    double tall = height_ + plot_gap;
    for (const Panel& panel : grid_.panels)
      tall = std::max(tall, height_ + plot_gap + page_.measured(title(panel)).height);
    // Panels with none below them have their labels between the last two lines.
    if (count_ % columns_ != 0 && count_ > columns_) tall += depth_of_x();
    return tall;
  }

  double depth_of_x() const {
    double depth = 0;
    for (const Text& text : x_.texts)
      depth = std::max(depth, (text.width + text.height) / std::sqrt(2.0));
    return depth + 2 * tick_length;
  }

  static Text title(const Panel& panel) {
    return {.text = panel.title, .lettering = {.points = 9.5, .bold = true}};
  }

  void place_panel(Panel& panel, double x, double y) {
    if (!panel.title.empty()) {
      Text text = page_.measured(title(panel));
      text.anchor = Text::Anchor::middle;
      text.x = x + width_ / 2;
      text.y = y - 4 - text.height / 2;
      page_.put(std::move(text));
    }
    const double bottom = panel.top > 0 ? 0 : bottom_, top = panel.top > 0 ? panel.top : top_;
    page_.put(Cells{x, y, std::move(panel.values), pixels_x_, pixels_y_, top, ramp_, bottom});
    if (panel.top > 0) place_bar(x, y, panel.top);
  }

  void place_y(double y) {
    for (size_t k = 0; k < y_.texts.size(); ++k) {
      const double at = y + y_.offsets[k];
      page_.put(Line{{-tick_length, at}, {0, at}, grey});
      Text text = y_.texts[k];
      text.anchor = Text::Anchor::right;
      text.x = -tick_length - 2;
      text.y = at;
      labels_left_ = std::min(labels_left_, text.x - text.width);
      page_.put(std::move(text));
    }
  }

  void place_x(double x, double bottom) {
    for (size_t k = 0; k < x_.texts.size(); ++k) {
      const double at = x + x_.offsets[k];
      page_.put(Line{{at, bottom}, {at, bottom + tick_length}, grey});
      Text text = x_.texts[k];
      text.anchor = Text::Anchor::right;
      text.angle = 45;
      text.x = at + text.height / 4;
      text.y = bottom + tick_length + 1 + text.height / 2;
      page_.put(std::move(text));
    }
  }

  void place_titles(const Bounds& plots) {
    const auto centred = [](std::string words, double angle) {
      return Text{.text = std::move(words),
                  .anchor = Text::Anchor::middle,
                  .angle = angle,
                  .lettering = {.points = 10}};
    };
    Text y = page_.measured(centred(grid_.y.title, 90));
    // A title that is longer than its axis would run into the labels below.
    const double left = y.width <= height_ ? labels_left_ : page_.bounds().left;
    Text x = page_.measured(centred(grid_.x.title, 0));
    x.x = plots.width() / 2;
    x.y = page_.bounds().bottom + 6 + x.height / 2;
    y.x = left - 8 - y.height / 2;
    y.y = plots.height() / 2;
    if (!x.text.empty()) page_.put(std::move(x));
    if (!y.text.empty()) page_.put(std::move(y));
  }

  Page& page_;
  Grid& grid_;
  double bottom_, top_;
  Ramp ramp_;
  int count_ = 0, columns_ = 1, pixels_x_ = 1, pixels_y_ = 1;
  double width_ = 0, height_ = 0, titles_width_ = 0, labels_left_ = 0, right_ = 0;
  Labels x_, y_;
};

}  // namespace

bool has_own_scales(const Grid& grid) { return grid.panels.front().top > 0; }

Bounds place_grid(Page& page, Grid grid, double bottom, double top, Ramp ramp) {
  return GridLayout(page, grid, bottom, top, ramp).place();
}

}  // namespace headwater
