#include "headwater/output/picture/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/output/picture/layout_curves.h"
#include "headwater/output/picture/layout_grid.h"
#include "headwater/output/picture/layout_overlay.h"
#include "headwater/output/picture/layout_strip.h"
#include "headwater/output/picture/page.h"

namespace headwater {
namespace {

constexpr double margin = 16;
constexpr double narrowest = 300;    // the lines under the title may always be this wide
constexpr double tallest_bar = 800;  // of the colour bar

void place_colour_bar(Page& page, const Bounds& plots, const Figure& figure, Ramp ramp) {
  const double height = std::floor(std::clamp(plots.height(), 72.0, tallest_bar)), width = 12;
  // A colour bar that is taller than the plots must clear their labels too.
  const double right_of = plots.height() < height ? page.bounds().right : plots.right;
  const double x = std::ceil(right_of + margin), y = std::round(plots.top);
  const int steps = static_cast<int>(height) * pixels_per_point;
  Cells bar{x, y, Matrix(steps, 1), static_cast<int>(width) * pixels_per_point, 1, 1, ramp};
  for (int k = 0; k < steps; ++k)
    bar.values(k, 0) = 1 - (figure.has_signs ? 2 : 1) * (k + 0.5f) / steps;
  if (std::holds_alternative<Strip>(figure.body)) bar.top = 1 / share_behind_text(ramp);
  page.put(std::move(bar));
  double right = x + width;
  for (const double value :
       ticks(figure.bottom, figure.top, std::min(static_cast<int>(height / 40) + 2, 8))) {
    const double at = y + height * (figure.top - value) / (figure.top - figure.bottom);
    page.put(Line{{x + width, at}, {x + width + 3, at}, grey});
    const Text& text = page.put({.text = fmt::format("{:.4g}", value),
                                 .x = x + width + 5,
                                 .y = at,
                                 .lettering = {.points = 8}});
    right = std::max(right, text.x + text.width);
  }
  Text text = page.measured({.text = figure.caption, .anchor = Text::Anchor::middle, .angle = 90});
  text.x = right + 6 + text.height / 2;
  text.y = y + height / 2;
  page.put(std::move(text));
}

// Places title and details above what is on the page, at its left edge.
void place_header(Page& page, const Figure& figure) {
  const Bounds body = page.bounds();
  const double room = std::max(body.width(), narrowest);
  const Lettering small = {.points = 8.5, .colour = grey};
  std::vector<std::string> lines;
  for (const std::string& part : figure.details) {
    const std::string longer = lines.empty() ? part : lines.back() + "  \u00B7  " + part;
    if (!lines.empty() && page.measured({.text = longer, .lettering = small}).width <= room)
      lines.back() = longer;
    else
      lines.push_back(part);
  }
  double y = body.top - 14;
  for (size_t k = lines.size(); k-- > 0;) {
    const double height = page.measured({.text = lines[k], .lettering = small}).height;
    page.put({.text = lines[k], .x = body.left, .y = y - height / 2, .lettering = small});
    y -= height + 1;
  }
  Text title = page.measured(
      {.text = figure.title, .x = body.left, .lettering = {.points = 13, .bold = true}});
  title.y = y - 3 - title.height / 2;
  page.put(std::move(title));
}

}  // namespace

std::vector<double> ticks(double top, int count) {
  const double rough = top / std::max(count - 1, 1);
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double digit : {5.0, 2.5, 2.0, 1.0})
    if (digit * decade >= rough * (1 - 1e-9)) step = digit * decade;
  std::vector<double> out;
  for (int k = 0; k * step <= top * (1 + 1e-9); ++k) out.push_back(k * step);
  if (out.size() < 2) out.push_back(top);
  return out;
}

std::vector<double> ticks(double bottom, double top, int count) {
  if (bottom < 0) {
    std::vector<double> out = ticks(top, std::max(3, (count + 1) / 2));
    for (size_t k = out.size(); k-- > 1;)
      if (out[k] <= -bottom) out.push_back(-out[k]);
    std::ranges::sort(out);
    return out;
  }
  if (bottom == 0) return ticks(top, count);
  const double step = ticks(top - bottom, count)[1];
  std::vector<double> out;
  for (double k = std::ceil(bottom / step * (1 - 1e-9)); k * step <= top * (1 + 1e-9); ++k)
    out.push_back(k * step);
  if (out.size() < 2) out = {bottom, top};
  return out;
}

Scene layout(Figure figure, Typesetter& typesetter) {
  Page page(typesetter);
  if (Grid* grid = std::get_if<Grid>(&figure.body)) {
    const Ramp ramp = figure.has_signs ? Ramp::red_blue : figure.ramp;
    const bool own_scales = has_own_scales(*grid);
    const Bounds plots = place_grid(page, std::move(*grid), figure.bottom, figure.top, ramp);
    if (!own_scales) place_colour_bar(page, plots, figure, ramp);
  } else if (const Overlay* overlay = std::get_if<Overlay>(&figure.body)) {
    const Bounds photos =
        place_overlay(page, *overlay, {figure.bottom, figure.top, figure.has_signs, figure.ramp});
    place_colour_bar(page, photos, figure, figure.has_signs ? Ramp::red_blue : figure.ramp);
  } else if (const Curves* curves = std::get_if<Curves>(&figure.body)) {
    place_curves(page, *curves);
  } else {
    const Strip& strip = std::get<Strip>(figure.body);
    const Ramp ramp = figure.has_signs               ? Ramp::red_blue_shade
                      : figure.ramp == Ramp::viridis ? Ramp::shade
                                                     : figure.ramp;
    const Bounds text = place_strip(page, strip, figure.top, ramp);
    if (!strip.bars) place_colour_bar(page, text, figure, ramp);
  }
  place_header(page, figure);
  // Shifts by whole points, so that cells fall on whole pixels.
  page.shift(std::ceil(margin - page.bounds().left), std::ceil(margin - page.bounds().top));
  return std::move(page).finished(margin);
}

}  // namespace headwater
