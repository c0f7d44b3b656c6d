#include "tests/output/scene_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace headwater::test {
namespace {

// Without a trailing zero, and without the sign of a zero.
std::string number(double value) { return fmt::format("{:g}", std::round(value * 10) / 10 + 0.0); }

std::string code(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

std::string rectangle(double x, double y, double width, double height, const std::string& paint) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", number(x),
                     number(y), number(width), number(height), paint);
}

// Few rectangles, found greedily: each as wide as its colour goes, then as high.
template <class At>
std::string mosaic(double x, double y, double step_x, double step_y, int columns, int rows,
                   const At& at) {
  std::string out;
  std::vector<bool> done(static_cast<size_t>(columns) * static_cast<size_t>(rows));
  const auto place = [&](int row, int column) {
    return static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column);
  };
  for (int top = 0; top < rows; ++top)
    for (int left = 0; left < columns; ++left) {
      if (done[place(top, left)]) continue;
      const Colour colour = at(top, left);
      int right = left, bottom = top + 1;
      while (right < columns && !done[place(top, right)] && at(top, right) == colour) ++right;
      const auto alike = [&](int row) {
        for (int k = left; k < right; ++k)
          if (done[place(row, k)] || at(row, k) != colour) return false;
        return true;
      };
      while (bottom < rows && alike(bottom)) ++bottom;
      for (int row = top; row < bottom; ++row)
        for (int k = left; k < right; ++k) done[place(row, k)] = true;
      out += fmt::format("<path fill=\"{}\" d=\"M{} {}h{}v{}H{}z\"/>\n", code(colour),
                         number(x + left * step_x), number(y + top * step_y),
                         number((right - left) * step_x), number((bottom - top) * step_y),
                         number(x + left * step_x));
    }
  return out;
}

std::string svg_of(const Cells& cells) {
  return mosaic(cells.x, cells.y, double(cells.pixels_x) / pixels_per_point,
                double(cells.pixels_y) / pixels_per_point, cells.values.columns(),
                cells.values.rows(),
                [&](int row, int column) { return cells.colour(cells.values(row, column)); });
}

std::string svg_of(const Photo& photo) {
  constexpr double step = 1.0 / pixels_per_point;
  return mosaic(photo.x, photo.y, step, step, photo.image.width, photo.image.height,
                [&](int row, int column) {
                  const uint8_t* rgb = photo.image.row(row).data() + std::ptrdiff_t{3} * column;
                  return Colour{rgb[0], rgb[1], rgb[2]};
                });
}

std::string svg_of(const Box& box) {
  return rectangle(
      box.x, box.y, box.width, box.height,
      box.framed ? "fill=\"none\" stroke=\"#000000\"" : "fill=\"" + code(box.fill) + "\"");
}

std::string svg_of(const Line& line) {
  return fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
      number(line.from.x), number(line.from.y), number(line.to.x), number(line.to.y),
      code(line.colour), number(line.width));
}

std::string svg_of(const Text& text) {
  const char* const anchors[] = {"start", "middle", "end"};
  const std::string x = number(text.x), y = number(text.y);
  const std::string turn =
      text.angle == 0 ? ""
                      : fmt::format(" transform=\"rotate({} {} {})\"", number(-text.angle), x, y);
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" font-size=\"{}\"{}{} fill=\"{}\">{}</text>\n", x,
      y, anchors[static_cast<int>(text.anchor)], number(text.lettering.points),
      text.lettering.bold ? " font-weight=\"bold\"" : "", turn, code(text.lettering.colour),
      escaped(text.text));
}

}  // namespace

std::string svg_of(const Scene& scene) {
  const std::string width = number(scene.width), height = number(scene.height);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}pt\" height=\"{1}pt\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans\" dominant-baseline=\"central\" "
      "stroke-width=\"0.8\">\n",
      width, height);
  out += rectangle(0, 0, scene.width, scene.height, "fill=\"#ffffff\"");
  for (const Photo& photo : scene.photos) out += svg_of(photo);
  for (const Cells& cells : scene.cells) out += svg_of(cells);
  for (const Box& box : scene.boxes) out += svg_of(box);
  for (const Line& line : scene.lines) out += svg_of(line);
  for (const Text& text : scene.texts) out += svg_of(text);
  return out + "</svg>\n";
}

}  // namespace headwater::test
