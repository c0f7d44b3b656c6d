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

void place_text(Page& page, const Strip& strip, double top) {
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
      Box box{x,    y - height / 2, width, height, colour_at(Ramp::shade, strip.values[j] / top),
              false};
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

void place_bars(Page& page, const Strip& strip, double y) {
  std::vector<Text> names;
  std::vector<float> values;
  double widest = 0, top = 0;
  for (size_t j = 0; j < strip.labels.size(); ++j) {
    if (!strip.kept[j]) continue;
    names.push_back(page.measured({.text = strip.labels[j], .anchor = Text::Anchor::right}));
    values.push_back(strip.values[j]);
    widest = std::max(widest, names.back().width);
    top = std::max<double>(top, strip.values[j]);
  }
  const double pitch = tallest(names) + 3;
  for (size_t k = 0; k < names.size(); ++k, y += pitch) {
    names[k].x = widest;
    names[k].y = y + pitch / 2;
    const double begin = widest + 6, length = top > 0 ? bar_width * values[k] / top : 0;
    page.put(names[k]);
    page.put(Box{begin, y + 1.5, length, pitch - 3, colour_at(Ramp::shade, 1), false});
    page.put(Text{.text = fmt::format("{:.{}f}", values[k], decimals(top)),
                  .x = begin + length + 5,
                  .y = y + pitch / 2,
                  .lettering = {.points = 8, .colour = grey}});
  }
}

}  // namespace

Bounds place_strip(Page& page, const Strip& strip, double top) {
  place_text(page, strip, top);
  const Bounds text = page.bounds();
  if (strip.bars) place_bars(page, strip, text.bottom + 16);
  return text;
}

}  // namespace headwater
