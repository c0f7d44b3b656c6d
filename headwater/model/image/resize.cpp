#include "headwater/model/image/resize.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numbers>

#include "headwater/core/parallel.h"

namespace headwater {
namespace {

constexpr int fraction_bits = 22;  // of the weights: 32 less 8 for a pixel and 2 for sums above 1
constexpr int lines_a_task = 32;

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double box(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

double bilinear(double x) { return std::max(0.0, 1 - std::abs(x)); }

double hamming(double x) {
  x = std::abs(x);
  if (x == 0) return 1;
  if (x >= 1) return 0;
  x *= std::numbers::pi;
  return std::sin(x) / x * (0.54 + 0.46 * std::cos(x));
}

double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double lanczos(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

struct Kernel {
  double (*weight)(double);
  double support;  // it is 0 further than this from its centre
};

Kernel kernel_of(Resample filter) {
  switch (filter) {
    case Resample::box:
      return {box, 0.5};
    case Resample::hamming:
      return {hamming, 1};
    case Resample::bicubic:
      return {bicubic, 2};
    case Resample::lanczos:
      return {lanczos, 3};
    default:
      return {bilinear, 1};
  }
}

// For each output pixel of a line: the first input pixel, and the weights from there on.
struct Taps {
  struct Run {
    int first = 0;
    size_t begin = 0, count = 0;  // in weights
  };
  std::vector<Run> runs;
  std::vector<int32_t> weights;

  std::span<const int32_t> of(int out) const {
    const Run& run = runs[static_cast<size_t>(out)];
    return std::span(weights).subspan(run.begin, run.count);
  }
  int first(int out) const { return runs[static_cast<size_t>(out)].first; }
};

Taps taps_of(int in, int out, Resample filter) {
  const Kernel kernel = kernel_of(filter);
  const double scale = static_cast<double>(in) / out;
  const double widened = std::max(scale, 1.0);  // a smaller image averages more pixels
  const double support = kernel.support * widened;
  const double narrow = 1 / widened;
  Taps taps;
  std::vector<double> row;
  for (int x = 0; x < out; ++x) {
    const double centre = (x + 0.5) * scale;
    // Rounds to nearest by adding 0.5 and truncating towards 0.
    const double begins = centre - support + 0.5, ends = centre + support + 0.5;
    const int first = std::max(static_cast<int>(begins), 0);
    const int end = std::min(static_cast<int>(ends), in);
    row.clear();
    double sum = 0;
    for (int k = 0; k < end - first; ++k) {
      row.push_back(kernel.weight((k + first - centre + 0.5) * narrow));
      sum += row.back();
    }
    taps.runs.push_back({first, taps.weights.size(), row.size()});
    for (double weight : row) {
      if (sum != 0) weight /= sum;
      weight *= 1 << fraction_bits;
      taps.weights.push_back(static_cast<int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5));
    }
  }
  return taps;
}

uint8_t rounded(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
}

void for_lines(int count, const std::function<void(int)>& line) {
  parallel_for((count + lines_a_task - 1) / lines_a_task, [&](int task) {
    const int end = std::min((task + 1) * lines_a_task, count);
    for (int y = task * lines_a_task; y < end; ++y) line(y);
  });
}

Image resized_rows(const Image& image, int width, Resample filter) {
  const Taps taps = taps_of(image.width, width, filter);
  Image out(width, image.height);
  for_lines(image.height, [&](int y) {
    const std::span<const uint8_t> from = image.row(y);
    const std::span<uint8_t> to = out.row(y);
    for (int x = 0; x < width; ++x) {
      int32_t red = 1 << (fraction_bits - 1), green = red, blue = red;
      const uint8_t* pixel = from.data() + std::ptrdiff_t{3} * taps.first(x);
      for (const int32_t weight : taps.of(x)) {
        red += pixel[0] * weight;
        green += pixel[1] * weight;
        blue += pixel[2] * weight;
        pixel += 3;
      }
      uint8_t* const place = to.data() + std::ptrdiff_t{3} * x;
      place[0] = rounded(red);
      place[1] = rounded(green);
      place[2] = rounded(blue);
    }
  });
  return out;
}

Image resized_columns(const Image& image, int height, Resample filter) {
  const Taps taps = taps_of(image.height, height, filter);
  Image out(image.width, height);
  for_lines(height, [&](int y) {
    std::vector<int32_t> sums(out.row(y).size(), 1 << (fraction_bits - 1));
    int line = taps.first(y);
    for (const int32_t weight : taps.of(y)) {
      const std::span<const uint8_t> from = image.row(line++);
      for (size_t k = 0; k < sums.size(); ++k) sums[k] += from[k] * weight;
    }
    std::transform(sums.begin(), sums.end(), out.row(y).begin(), rounded);
  });
  return out;
}

// The pixel under the centre of each output pixel. Places are summed, as in Pillow, not multiplied:
// the two differ in the last bit, and so sometimes by a pixel. None is past the end by more than
// that bit.
std::vector<int> nearest_places(int in, int out) {
  const double scale = static_cast<double>(in) / out;
  std::vector<int> places;
  double place = scale * 0.5;
  for (int x = 0; x < out; ++x, place += scale) places.push_back(static_cast<int>(place));
  return places;
}

Image nearest(const Image& image, int width, int height) {
  const std::vector<int> columns = nearest_places(image.width, width),
                         lines = nearest_places(image.height, height);
  Image out(width, height);
  for_lines(height, [&](int y) {
    const int line = lines[static_cast<size_t>(y)];
    if (line >= image.height) return;
    const std::span<const uint8_t> from = image.row(line);
    uint8_t* to = out.row(y).data();
    for (const int column : columns) {
      if (column < image.width) std::copy_n(from.data() + std::ptrdiff_t{3} * column, 3, to);
      to += 3;
    }
  });
  return out;
}

// The order affects the rounding. Pillow 13 resizes columns first if that removes more than twice
// as many lines as the rows remove columns; before, it always resized rows first.
bool columns_first(const Image& image, int width, int height) {
  const int lines = image.height - height;
  return lines > 0 && 2 * (image.width - width) < lines;
}

}  // namespace

Image resize(const Image& image, int width, int height, Resample filter) {
  assert(width > 0 && height > 0 && !image.empty());
  if (width == image.width && height == image.height) return image;
  if (filter == Resample::nearest) return nearest(image, width, height);
  if (width == image.width) return resized_columns(image, height, filter);
  if (height == image.height) return resized_rows(image, width, filter);
  if (columns_first(image, width, height))
    return resized_rows(resized_columns(image, height, filter), width, filter);
  return resized_columns(resized_rows(image, width, filter), height, filter);
}

int crop_begin(int have, int wanted) {
  // Rounds down, also below 0.
  const int difference = have - wanted;
  return difference >= 0 ? difference / 2 : -((1 - difference) / 2);
}

Image centre_crop(const Image& image, int width, int height) {
  const int left = crop_begin(image.width, width), top = crop_begin(image.height, height);
  const int begin = std::max(left, 0), end = std::min(left + width, image.width);
  Image out(width, height);
  for (int y = std::max(0, -top); y < std::min(height, image.height - top); ++y)
    std::copy_n(image.row(y + top).begin() + std::ptrdiff_t{3} * begin,
                std::ptrdiff_t{3} * (end - begin),
                out.row(y).begin() + std::ptrdiff_t{3} * (begin - left));
  return out;
}

}  // namespace headwater
