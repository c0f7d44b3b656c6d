#include <fmt/format.h>

#include <cmath>

#include "headwater/output/page/base64.h"
#include "headwater/output/picture/draw.h"
#include "headwater/output/picture/picture.h"

namespace headwater {
namespace {

// Hundredths of a point, without trailing zeros and without the sign of a zero.
std::string svg_number(double value) {
  return fmt::format("{:.10g}", std::round(value * 100) / 100 + 0.0);
}

std::string svg_colour(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string svg_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

template <class Pixels>
std::string svg_image(const Pixels& pixels) {
  return fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" xlink:href=\"data:image/png;base64,{}\"/>\n",
      svg_number(pixels.x), svg_number(pixels.y), svg_number(pixels.width()),
      svg_number(pixels.height()), base64_of(png_of(pixels)));
}

std::string svg_element(const Box& box) {
  const double inset = box.framed ? 0.4 : 0;
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n",
                     svg_number(box.x + inset), svg_number(box.y + inset),
                     svg_number(box.width - 2 * inset), svg_number(box.height - 2 * inset),
                     box.framed ? "fill=\"none\" stroke=\"#000000\" stroke-width=\"0.8\""
                                : "fill=\"" + svg_colour(box.fill) + "\"");
}

std::string svg_element(const Line& line) {
  return fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
      svg_number(line.from.x), svg_number(line.from.y), svg_number(line.to.x),
      svg_number(line.to.y), svg_colour(line.colour), svg_number(line.width));
}

// The anchor keeps a label where it belongs, whatever font the reader has.
std::string svg_element(const Text& text) {
  constexpr const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  const double down = text.ascent - text.height / 2;
  const std::string place =
      text.angle == 0
          ? fmt::format("x=\"{}\" y=\"{}\"", svg_number(text.x), svg_number(text.y + down))
          : fmt::format("transform=\"translate({} {}) rotate({})\" y=\"{}\"", svg_number(text.x),
                        svg_number(text.y), svg_number(-text.angle), svg_number(down));
  return fmt::format("<text {}{} font-size=\"{}\"{} fill=\"{}\">{}</text>\n", place,
                     anchors[static_cast<int>(text.anchor)], svg_number(text.lettering.points),
                     text.lettering.bold ? " font-weight=\"bold\"" : "",
                     svg_colour(text.lettering.colour), svg_text(text.text));
}

}  // namespace

std::string svg_of(const Scene& scene, Typesetter&, const std::string&) {
  const std::string width = svg_number(scene.width), height = svg_number(scene.height);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
      "width=\"{0}pt\" height=\"{1}pt\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"DejaVu Sans, Noto Sans, sans-serif\" xml:space=\"preserve\">\n",
      width, height);
  out += svg_element(Box{0, 0, scene.width, scene.height, white, false});
  for (const Photo& photo : scene.photos) out += svg_image(photo);
  for (const Cells& cells : scene.cells) out += svg_image(cells);
  for (const Box& box : scene.boxes) out += svg_element(box);
  for (const Line& line : scene.lines) out += svg_element(line);
  for (const Text& text : scene.texts)
    if (!text.text.empty()) out += svg_element(text);
  return out + "</svg>\n";
}

}  // namespace headwater
