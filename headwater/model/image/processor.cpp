#include "headwater/model/image/processor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

constexpr double most_pixels_after = 1 << 28;
constexpr int largest_kept = 1024;

struct Size {
  double width, height;  // whole numbers
};

// The same sums as in transformers, in the same order, so that rounding agrees.
Size shortest_edge(const Image& image, double edge) {
  const double ratio_of = std::min(image.width, image.height),
               ratio = std::max(image.width, image.height);
  const double other = std::trunc(edge * ratio / ratio_of);
  return image.width <= image.height ? Size{edge, other} : Size{other, edge};
}

Size between_edges(const Image& image, double shortest, double longest) {
  const double width = image.width, height = image.height;
  double edge = shortest, exact = shortest;
  if (std::max(width, height) / std::min(width, height) * shortest > longest) {
    exact = longest * std::min(width, height) / std::max(width, height);
    edge = std::nearbyint(exact);
  }
  if (std::min(width, height) == edge) return {width, height};
  if (width < height) return {edge, std::trunc(exact * height / width)};
  return {std::trunc(exact * width / height), edge};
}

Size within(const Image& image, double max_width, double max_height) {
  const double scale = std::min(max_height / image.height, max_width / image.width);
  return {std::trunc(image.width * scale), std::trunc(image.height * scale)};
}

Size target(const Image& image, const TargetSize& size) {
  if (size.shortest_edge > 0 && size.longest_edge > 0)
    return between_edges(image, size.shortest_edge, size.longest_edge);
  if (size.shortest_edge > 0) return shortest_edge(image, size.shortest_edge);
  if (size.max_height > 0) return within(image, size.max_width, size.max_height);
  return {static_cast<double>(size.width), static_cast<double>(size.height)};
}

Image resized(const Image& image, const ProcessorConfig& config) {
  const Size size = target(image, config.size);
  if (size.width < 1 || size.height < 1 || size.width * size.height > most_pixels_after)
    fail(
        "{}: would make {} x {} pixels of an image of {} x {}, expected at least one and at most "
        "2^28; use an image whose sides differ less",
        config.file, size.width, size.height, image.width, image.height);
  return resize(image, static_cast<int>(size.width), static_cast<int>(size.height),
                config.resample);
}

// Rescales in double, rounds to float, then normalises in float, as transformers does.
std::array<float, 256> values_of(const ProcessorConfig& config, size_t colour) {
  std::array<float, 256> out = {};
  for (size_t k = 0; k < out.size(); ++k) {
    double value = static_cast<double>(k);
    if (config.do_rescale) value *= config.rescale_factor;
    out[k] = static_cast<float>(value);
    if (config.do_normalize)
      out[k] = (out[k] - static_cast<float>(config.image_mean[colour])) /
               static_cast<float>(config.image_std[colour]);
  }
  return out;
}

}  // namespace

std::span<const float> Pixels::row(int colour, int y) const {
  const size_t length = static_cast<size_t>(width);
  const size_t line =
      static_cast<size_t>(colour) * static_cast<size_t>(height) + static_cast<size_t>(y);
  return std::span(values).subspan(line * length, length);
}

Pixels ImageProcessor::apply(const Image& image) const {
  Image made = config_.do_resize ? resized(image, config_) : image;
  Pixels out;
  out.seen = {0, 0, static_cast<double>(image.width), static_cast<double>(image.height)};
  if (config_.do_center_crop) {
    const double across = out.seen.width / made.width, down = out.seen.height / made.height;
    out.seen = {crop_begin(made.width, config_.crop_width) * across,
                crop_begin(made.height, config_.crop_height) * down, config_.crop_width * across,
                config_.crop_height * down};
    made = centre_crop(made, config_.crop_width, config_.crop_height);
  }
  out.width = made.width;
  out.height = made.height;
  out.values.resize(made.bytes.size());
  float* to = out.values.data();
  for (size_t colour = 0; colour < 3; ++colour) {
    const std::array<float, 256> values = values_of(config_, colour);
    for (size_t k = colour; k < made.bytes.size(); k += 3) *to++ = values[made.bytes[k]];
  }
  return out;
}

PatchGrid patch_grid_of(const Image& image, const ImageBox& seen, int rows, int columns,
                        int prefix) {
  PatchGrid out{image.width, image.height, seen, image, rows, columns, prefix};
  const int longest = std::max(image.width, image.height);
  if (longest > largest_kept) {
    const double scale = static_cast<double>(largest_kept) / longest;
    const auto side = [&](int length) {
      return std::max(1, static_cast<int>(std::lround(length * scale)));
    };
    out.image = resize(image, side(image.width), side(image.height), Resample::box);
  }
  return out;
}

}  // namespace headwater
