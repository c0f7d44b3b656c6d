#include "headwater/output/picture/layout_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace headwater {
namespace {

constexpr double line_width = 560;
constexpr double bar_width = 260;
constexpr double around = 0.6;  // the shade extends a little beyond its text
constexpr Lettering reading = {.points = 11};

// All lines get the height of the tallest text, because scripts differ.
double tallest(const std::vector<Text>& texts) {
  double height = 0;
  for (const Text& text : texts) height = std::max(height, text.height);
  return height;
}

void place_text(Page& page, const Strip& strip, double top, Ramp ramp) {
  std::vector<Text> texts;
  for (size_t j = 0; j < strip.pieces.size(); ++j) {
    Lettering lettering = reading;
    if (!strip.kept[j]) lettering.colour = grey;
    texts.push_back(page.measured({.text = strip.pieces[j].text, .lettering = lettering}));
  }
  const double height = tallest(texts) + 2, pitch = height + 5;
  double x = 0, y = height / 2;
  for (size_t j = 0; j < texts.size(); ++j) {
    const double width = texts[j].width + 2 * around;
    if (strip.pieces[j].space && x > 0) x += 4;
    if (x > 0 && x + width > line_width) {
      x = 0;
      y += pitch;
    }
    if (!texts[j].text.empty()) {
      Box box{x, y - height / 2, width, height, colour_at(ramp, strip.values[j] / top), false};
      if (strip.kept[j]) page.put(box);
      box.framed = true;
      if (static_cast<int>(j) == strip.output) page.put(box);
      texts[j].x = x + around;
      texts[j].y = y;
      page.put(texts[j]);
      x += width + around;
    }
    if (strip.pieces[j].ends_line) {
      x = 0;
      y += pitch;
    }
  }
}

// Enough decimals for three digits of the longest bar.
int decimals(double top) {
  if (top <= 0) return 3;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(top))), 3, 8);
}

// Negative bars, if there are any, end where the others begin.
void place_bars(Page& page, const Strip& strip, double y, Ramp ramp) {
  std::vector<Text> names;
  std::vector<float> values;
  double widest = 0, top = 0, bottom = 0;
  for (size_t j = 0; j < strip.labels.size(); ++j) {
    if (!strip.kept[j]) continue;
    names.push_back(page.measured({.text = strip.labels[j], .anchor = Text::Anchor::right}));
    values.push_back(strip.values[j]);
    widest = std::max(widest, names.back().width);
    top = std::max<double>(top, strip.values[j]);
    bottom = std::min<double>(bottom, strip.values[j]);
  }
  const double pitch = tallest(names) + 3;
  const double span = top - bottom, zero = widest + 6 + (span > 0 ? bar_width * -bottom / span : 0);
  for (size_t k = 0; k < names.size(); ++k, y += pitch) {
    names[k].x = widest;
    names[k].y = y + pitch / 2;
    const double length = span > 0 ? bar_width * std::abs(values[k]) / span : 0;
    page.put(names[k]);
    page.put(Box{values[k] < 0 ? zero - length : zero, y + 1.5, length, pitch - 3,
                 colour_at(ramp, values[k] < 0 ? -1 : 1), false});
    page.put(Text{.text = fmt::format("{:.{}f}", values[k], decimals(std::max(top, -bottom))),
                  .x = zero + (values[k] < 0 ? 0 : length) + 5,
                  .y = y + pitch / 2,
                  .lettering = {.points = 8, .colour = grey}});
  }
}

}  // namespace

Bounds place_strip(Page& page, const Strip& strip, double top, Ramp ramp) {
  place_text(page, strip, top, ramp);
  const Bounds text = page.bounds();
  if (strip.bars) place_bars(page, strip, text.bottom + 16, ramp);
  return text;
}

}  // namespace headwater
