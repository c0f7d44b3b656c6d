#include "headwater/output/picture/layout_strip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/output/picture/reading_side.h"
#include "headwater/result/token_class.h"

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

// A piece on its line.
struct Placed {
  size_t piece = 0;
  double before = 0, width = 0;  // the space before it, and its own
};

// The lines as they are read.
std::vector<std::vector<Placed>> lines_of(const Strip& strip, const std::vector<Text>& texts) {
  std::vector<std::vector<Placed>> lines(1);
  double x = 0;
  for (size_t j = 0; j < texts.size(); ++j) {
    const double width = texts[j].width + 2 * around;
    double before = strip.pieces[j].space && x > 0 ? 4 : 0;
    if (x > 0 && x + before + width > line_width) {
      lines.emplace_back();
      x = before = 0;
    }
    if (!texts[j].text.empty()) {
      lines.back().push_back({j, before, width});
      x += before + width + around;
    }
    if (strip.pieces[j].ends_line) {
      lines.emplace_back();
      x = 0;
    }
  }
  return lines;
}

// The same line from left to right. Scripts that run from right to left do so here too: a text that
// begins with one is laid out from the right, and runs in the other direction are reversed within
// it.
std::vector<Placed> from_left(const std::vector<Placed>& line,
                              const std::vector<ReadingSide>& sides, bool from_right) {
  const auto reversed = [&](size_t k) {
    return (sides[line[k].piece] == ReadingSide::right) != from_right;
  };
  struct Step {
    size_t place, run;  // in the line as it is read: its own, and where its run begins
  };
  std::vector<Step> steps;
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin + 1;
    while (reversed(begin) && end < line.size() && reversed(end)) ++end;
    for (size_t k = begin; k < end; ++k)
      steps.push_back({reversed(begin) ? end - 1 - (k - begin) : k, begin});
    begin = end;
  }
  if (from_right) std::ranges::reverse(steps);
  std::vector<Placed> out;
  for (size_t k = 0; k < steps.size(); ++k) {
    out.push_back(line[steps[k].place]);
    // The space between two pieces belongs to the one that is read later.
    if (k == 0) {
      out.back().before = 0;
    } else {
      const Step &left = steps[k - 1], &right = steps[k];
      const size_t later =
          left.run == right.run ? std::max(left.place, right.place) : std::max(left.run, right.run);
      out.back().before = line[later].before;
    }
  }
  return out;
}

void place_text(Page& page, const Strip& strip, double top, Ramp ramp) {
  std::vector<Text> texts;
  std::vector<std::string> words;
  for (size_t j = 0; j < strip.pieces.size(); ++j) {
    Lettering lettering = reading;
    if (!strip.text_kept[j]) lettering.colour = grey;
    texts.push_back(page.measured({.text = strip.pieces[j].text, .lettering = lettering}));
    // A token of the model has no script.
    words.push_back(is_special(strip.pieces[j].text) ? "" : strip.pieces[j].text);
  }
  const std::vector<ReadingSide> sides = sides_of(words);
  const auto first = std::ranges::find_if(
      words, [](const std::string& word) { return side_of(word) != ReadingSide::none; });
  const bool from_right = first != words.end() && side_of(*first) == ReadingSide::right;
  const double height = tallest(texts) + 2, pitch = height + 5;
  double y = height / 2;
  for (const std::vector<Placed>& line : lines_of(strip, texts)) {
    double length = 0;
    for (const Placed& one : line) length += one.before + one.width + around;
    double x = from_right ? line_width - length : 0;
    for (const Placed& one : from_left(line, sides, from_right)) {
      const size_t j = one.piece;
      x += one.before;
      Box box{x,
              y - height / 2,
              one.width,
              height,
              colour_at(ramp, share_behind_text(ramp) * strip.text_values[j] / top),
              false};
      if (strip.text_kept[j]) page.put(box);
      box.framed = true;
      if (static_cast<int>(j) == strip.output) page.put(box);
      texts[j].x = x + around;
      texts[j].y = y;
      page.put(texts[j]);
      x += one.width + around;
    }
    y += pitch;
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
                 colour_at(ramp, values[k] < 0 ? -1 : share_behind_text(ramp)), false});
    page.put(Text{.text = fmt::format("{:.{}f}", values[k], decimals(std::max(top, -bottom))),
                  .x = zero + (values[k] < 0 ? 0 : length) + 5,
                  .y = y + pitch / 2,
                  .lettering = {.points = 8, .colour = grey}});
  }
}

}  // namespace

double share_behind_text(Ramp ramp) {
  return ramp == Ramp::shade || ramp == Ramp::red_blue_shade ? 1 : 0.5;
}

Bounds place_strip(Page& page, const Strip& strip, double top, Ramp ramp) {
  place_text(page, strip, top, ramp);
  const Bounds text = page.bounds();
  if (strip.bars) place_bars(page, strip, text.bottom + 16, ramp);
  return text;
}

}  // namespace headwater
