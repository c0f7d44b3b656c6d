#include "headwater/output/terminal/patches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "headwater/output/colour.h"
#include "headwater/output/picture/blend.h"

namespace headwater {
namespace {

constexpr const char* reset = "\x1b[0m";
constexpr const char* upper_half = "\u2580";

std::string behind(Colour c) { return fmt::format("\x1b[48;2;{};{};{}m", c.red, c.green, c.blue); }
std::string before(Colour c) { return fmt::format("\x1b[38;2;{};{};{}m", c.red, c.green, c.blue); }

// The largest value (or that of the largest size) of each block, if there are more patches than
// terminal columns.
Matrix merged(const Matrix& values, int by) {
  Matrix out((values.rows() + by - 1) / by, (values.columns() + by - 1) / by);
  std::fill_n(out.data(), out.size(), std::nanf(""));
  for (int y = 0; y < values.rows(); ++y)
    for (int x = 0; x < values.columns(); ++x) {
      float& place = out(y / by, x / by);
      place = std::isnan(place) || std::abs(values(y, x)) > std::abs(place) ? values(y, x) : place;
    }
  return out;
}

class Blocks {
 public:
  Blocks(Matrix values, ScaleEnds scale) : values_(std::move(values)), scale_(scale) {}

  // A patch is two columns and one line: about a square.
  std::string whole(int y) const {
    std::string out;
    for (int x = 0; x < values_.columns(); ++x) {
      const std::optional<Colour> colour = at(y, x);
      out += colour ? behind(*colour) + "  " : std::string(reset) + "  ";
    }
    return out + reset;
  }

  // A patch is one column and half a line.
  std::string half(int y) const {
    std::string out;
    for (int x = 0; x < values_.columns(); ++x) {
      const std::optional<Colour> upper = at(y, x), lower = at(y + 1, x);
      out += reset;
      if (lower) out += behind(*lower);
      out += upper ? before(*upper) + upper_half : " ";
    }
    return out + reset;
  }

 private:
  std::optional<Colour> at(int y, int x) const {
    if (y >= values_.rows() || std::isnan(values_(y, x))) return {};
    return scale_.colour(values_(y, x));
  }

  Matrix values_;
  ScaleEnds scale_;
};

std::string image_line(const Image& image, int y) {
  const auto colour = [&](int row, int x) {
    const uint8_t* rgb = image.row(row).data() + std::ptrdiff_t{3} * x;
    return Colour{rgb[0], rgb[1], rgb[2]};
  };
  std::string out;
  for (int x = 0; x < image.width; ++x)
    out += behind(colour(2 * y + 1, x)) + before(colour(2 * y, x)) + upper_half;
  return out + reset;
}

}  // namespace

std::string patches_text(const Overlay& overlay, int width) {
  const OverlayPanel& panel = overlay.panels.back();
  const int rows = panel.values.rows(), columns = panel.values.columns();
  const ScaleEnds scale =
      patch_scale({panel.values.data(), panel.values.size()}, overlay.has_signs);
  std::string out;
  if (2 * columns <= width) {
    const Blocks blocks(merged(panel.values, 1), scale);
    const bool both = 4 * columns + 2 <= width;
    const Image image = both ? sampled(overlay, panel.seen, 2 * columns, 2 * rows) : Image();
    for (int y = 0; y < rows; ++y)
      out += (both ? image_line(image, y) + "  " : "") + blocks.whole(y) + '\n';
  } else {
    const int by = (columns + width - 1) / width;
    const Blocks blocks(merged(panel.values, by), scale);
    for (int y = 0; y < (rows + by - 1) / by; y += 2) out += blocks.half(y) + '\n';
  }
  return out + (scale.has_signs
                    ? fmt::format("blue {:.4g}, white 0, red {:.4g}\n", scale.bottom, scale.top)
                    : fmt::format("dark {:.4g}, bright {:.4g}\n", scale.bottom, scale.top));
}

}  // namespace headwater
