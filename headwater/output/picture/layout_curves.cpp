#include "headwater/output/picture/layout_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/output/picture/layout.h"

namespace headwater {
namespace {

constexpr double width = 210, height = 190;  // of a panel
constexpr double panel_gap = 26;             // between a panel and the labels of the next
constexpr double stroke = 1.6, mark = 2.4;   // of a curve, and half a side of its marks
constexpr Lettering small = {.points = 8};

class PanelLayout {
 public:
  PanelLayout(Page& page, const CurvePanel& panel, double left)
      : page_(page), panel_(panel), left_(left) {}

  void place() {
    place_frame();
    place_x();
    for (size_t k = 0; k < panel_.curves.size(); ++k) place_curve(panel_.curves[k], aside(k));
    page_.put(Text{.text = panel_.title,
                   .x = left_ + width / 2,
                   .y = -11,
                   .anchor = Text::Anchor::middle,
                   .lettering = {.points = 10}});
  }

  /// The width of the scale and its title, to the left of the panel.
  static double room_left(Page& page, const CurvePanel& panel) {
    double widest = 0;
    for (const double value : values_of(panel))
      widest = std::max(widest, page.measured({.text = name_of(value), .lettering = small}).width);
    return widest + tick_length + 4 + 8 + page.measured({.text = panel.y_title}).height;
  }

 private:
  static std::string name_of(double value) { return fmt::format("{:.4g}", value); }

  // Round numbers, which may start below 0.
  static std::vector<double> values_of(const CurvePanel& panel) {
    const double step = ticks(panel.top - panel.bottom, 6)[1];
    std::vector<double> out;
    for (double k = std::ceil(panel.bottom / step - 1e-9); k * step <= panel.top + 1e-9; ++k)
      out.push_back(k * step + 0.0);  // no -0
    return out;
  }

  double x_of(size_t place) const {
    const double count = static_cast<double>(panel_.places.size());
    return left_ + width * (static_cast<double>(place) + 0.5) / count;
  }
  double y_of(double value) const {
    return height * (panel_.top - value) / (panel_.top - panel_.bottom);
  }

  void place_frame() {
    page_.put(Line{{left_, 0}, {left_, height}, grey});
    page_.put(Line{{left_, height}, {left_ + width, height}, grey});
    if (panel_.level > panel_.bottom && panel_.level < panel_.top)
      page_.put(Line{{left_, y_of(panel_.level)}, {left_ + width, y_of(panel_.level)}, light_grey});
    double labels = left_;
    for (const double value : values_of(panel_)) {
      page_.put(Line{{left_ - tick_length, y_of(value)}, {left_, y_of(value)}, grey});
      const Text& text = page_.put({.text = name_of(value),
                                    .x = left_ - tick_length - 2,
                                    .y = y_of(value),
                                    .anchor = Text::Anchor::right,
                                    .lettering = small});
      labels = std::min(labels, text.x - text.width);
    }
    Text title =
        page_.measured({.text = panel_.y_title, .anchor = Text::Anchor::middle, .angle = 90});
    title.x = labels - 6 - title.height / 2;
    title.y = height / 2;
    page_.put(std::move(title));
  }

  // Names only every k-th place, so that labels do not touch.
  void place_x() {
    double widest = 0;
    for (const std::string& name : panel_.places)
      widest = std::max(widest, page_.measured({.text = name, .lettering = small}).width);
    const double pitch = width / static_cast<double>(panel_.places.size());
    const size_t every = static_cast<size_t>(std::ceil((widest + 3) / pitch));
    double below = height;
    for (size_t k = 0; k < panel_.places.size(); k += every) {
      page_.put(Line{{x_of(k), height}, {x_of(k), height + tick_length}, grey});
      Text name = page_.measured(
          {.text = panel_.places[k], .anchor = Text::Anchor::middle, .lettering = small});
      name.x = x_of(k);
      name.y = height + tick_length + 1 + name.height / 2;
      below = std::max(below, name.y + name.height / 2);
      page_.put(std::move(name));
    }
    Text title = page_.measured({.text = panel_.x_title, .anchor = Text::Anchor::middle});
    title.x = left_ + width / 2;
    title.y = below + 3 + title.height / 2;
    page_.put(std::move(title));
  }

  // How far to the side curve k is drawn. Places are whole numbers, so curves of equal values can
  // stand beside each other, at their true heights.
  double aside(size_t k) const {
    const double count = static_cast<double>(panel_.curves.size());
    const double pitch = width / static_cast<double>(panel_.places.size());
    return std::min(2 * mark, 0.7 * pitch / count) * (static_cast<double>(k) - (count - 1) / 2);
  }

  void place_curve(const Curve& curve, double aside) {
    const auto point = [&](size_t k) { return Point{x_of(k) + aside, y_of(curve.values[k])}; };
    const auto known = [&](size_t k) { return std::isfinite(curve.values[k]); };
    for (size_t k = 0; k < curve.values.size(); ++k) {
      if (!known(k)) continue;
      const Point here = point(k);
      page_.put(Box{here.x - mark, here.y - mark, 2 * mark, 2 * mark, curve.colour, false});
      if (k > 0 && known(k - 1)) page_.put(Line{point(k - 1), here, curve.colour, stroke});
    }
  }

  Page& page_;
  const CurvePanel& panel_;
  double left_;
};

void place_legend(Page& page, const Curves& curves, double left) {
  std::vector<const Curve*> named;
  for (const CurvePanel& panel : curves.panels)
    for (const Curve& curve : panel.curves)
      if (std::ranges::none_of(named, [&](const Curve* one) { return one->name == curve.name; }))
        named.push_back(&curve);
  double y = 6;
  for (const Curve* curve : named) {
    page.put(Line{{left, y}, {left + 16, y}, curve->colour, stroke});
    page.put(Box{left + 8 - mark, y - mark, 2 * mark, 2 * mark, curve->colour, false});
    const Text& text = page.put({.text = curve->name, .x = left + 21, .y = y});
    y += text.height + 3;
  }
}

}  // namespace

void place_curves(Page& page, const Curves& curves) {
  double left = 0;
  for (const CurvePanel& panel : curves.panels) {
    if (left > 0) left += panel_gap + PanelLayout::room_left(page, panel);
    PanelLayout(page, panel, left).place();
    left += width;
  }
  place_legend(page, curves, left + 14);
}

}  // namespace headwater
