#include "headwater/output/picture/blend.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/output/colour.h"

namespace headwater {
namespace {

constexpr double strength = 0.6;  // of the colours
constexpr double unseen = 0.75;   // share of white over what the model did not see

// Which cells of a line each of `count` pixels covers, and by how much. The line has cells of equal
// length from `from` to `to`; the pixels divide `begin` to `end`.
struct Cover {
  int first = 0;
  std::vector<double> shares;  // of the pixel; they sum to less than 1 if it is partly outside
};

std::vector<Cover> covers(double begin, double end, int count, double from, double to, int cells) {
  std::vector<Cover> out(static_cast<size_t>(count));
  const double cell = (to - from) / cells, pixel = (end - begin) / count;
  for (int k = 0; k < count; ++k) {
    const double low = (begin + k * pixel - from) / cell,
                 high = (begin + (k + 1) * pixel - from) / cell;
    Cover& cover = out[static_cast<size_t>(k)];
    cover.first =
        std::clamp(static_cast<int>(std::floor(std::clamp(low, 0.0, double(cells)))), 0, cells - 1);
    for (int c = cover.first; c < cells && c < high; ++c)
      cover.shares.push_back(
          std::max(0.0, (std::min(high, c + 1.0) - std::max(low, double(c))) / (high - low)));
  }
  return out;
}

double inside(const Cover& cover) {
  double sum = 0;
  for (const double share : cover.shares) sum += share;
  return std::min(sum, 1.0);
}

// Calls add(row of the cell, column of the cell, share of the pixel).
template <class Add>
void for_covered(const Cover& down, const Cover& across, Add add) {
  for (size_t y = 0; y < down.shares.size(); ++y)
    for (size_t x = 0; x < across.shares.size(); ++x)
      add(down.first + static_cast<int>(y), across.first + static_cast<int>(x),
          down.shares[y] * across.shares[x]);
}

uint8_t byte_of(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

}  // namespace

ImageBox extent_of(const Overlay& overlay) {
  double left = 0, top = 0, right = overlay.width, bottom = overlay.height;
  for (const OverlayPanel& panel : overlay.panels) {
    left = std::min(left, panel.seen.x);
    top = std::min(top, panel.seen.y);
    right = std::max(right, panel.seen.x + panel.seen.width);
    bottom = std::max(bottom, panel.seen.y + panel.seen.height);
  }
  return {left, top, right - left, bottom - top};
}

Image sampled(const Overlay& overlay, const ImageBox& part, int width, int height) {
  const Image& image = overlay.image;
  const auto across = covers(part.x, part.x + part.width, width, 0, overlay.width, image.width),
             down = covers(part.y, part.y + part.height, height, 0, overlay.height, image.height);
  Image out(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::array<double, 3> sum = {};
      for_covered(down[static_cast<size_t>(y)], across[static_cast<size_t>(x)],
                  [&](int row, int column, double share) {
                    const uint8_t* from = image.row(row).data() + std::ptrdiff_t{3} * column;
                    for (size_t k = 0; k < 3; ++k) sum[k] += share * from[k];
                  });
      std::transform(sum.begin(), sum.end(), out.row(y).begin() + std::ptrdiff_t{3} * x, byte_of);
    }
  return out;
}

Image blended(const Overlay& overlay, const OverlayPanel& panel, ScaleEnds scale, int width,
              int height) {
  const ImageBox extent = extent_of(overlay), &seen = panel.seen;
  Image out = sampled(overlay, extent, width, height);
  const auto across = covers(extent.x, extent.x + extent.width, width, seen.x, seen.x + seen.width,
                             panel.values.columns()),
             down = covers(extent.y, extent.y + extent.height, height, seen.y, seen.y + seen.height,
                           panel.values.rows());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Cover &rows = down[static_cast<size_t>(y)], &columns = across[static_cast<size_t>(x)];
      uint8_t* const pixel = out.row(y).data() + std::ptrdiff_t{3} * x;
      const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
      const double outside = 1 - inside(rows) * inside(columns);
      std::array<double, 3> sum = {};
      sum.fill(outside * (unseen * 255 + (1 - unseen) * grey));
      for_covered(rows, columns, [&](int row, int column, double share) {
        const float value = panel.values(row, column);
        const Colour c = scale.colour(value);
        const double colour = std::isnan(value) ? 0 : strength;
        const std::array<double, 3> rgb = {double(c.red), double(c.green), double(c.blue)};
        for (size_t k = 0; k < 3; ++k) sum[k] += share * ((1 - colour) * grey + colour * rgb[k]);
      });
      std::transform(sum.begin(), sum.end(), pixel, byte_of);
    }
  return out;
}

}  // namespace headwater
