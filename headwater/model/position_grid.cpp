#include "headwater/model/position_grid.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headwater {
namespace {

// Keys' cubic kernel.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

struct Tap {
  int place;
  double weight;
};

// Which old places make up new place k, and how much of each.
std::vector<Tap> taps_of(int k, int from, int to, ImageEmbedding::Resize how) {
  const double scale = static_cast<double>(from) / to, centre = (k + 0.5) * scale;
  std::vector<Tap> taps;
  if (how == ImageEmbedding::Resize::bicubic) {
    const double at = centre - 0.5;
    const int base = static_cast<int>(std::floor(at));
    for (int place = base - 1; place <= base + 2; ++place)
      taps.push_back({std::clamp(place, 0, from - 1), cubic(at - place, -0.75)});
    return taps;
  }
  const double stretch = std::max(scale, 1.0), support = 2 * stretch;
  const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
  const int end = std::min(static_cast<int>(centre + support + 0.5), from);
  double sum = 0;
  for (int place = first; place < end; ++place) {
    taps.push_back({place, cubic((place - centre + 0.5) / stretch, -0.5)});
    sum += taps.back().weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

}  // namespace

Matrix stretch_grid(MatrixView table, int side, int rows, int columns, ImageEmbedding::Resize how) {
  const size_t width = static_cast<size_t>(table.columns());
  Matrix out(rows * columns, table.columns());
  std::vector<double> sums(width);
  for (int y = 0; y < rows; ++y) {
    const std::vector<Tap> down = taps_of(y, side, rows, how);
    for (int x = 0; x < columns; ++x) {
      std::ranges::fill(sums, 0.0);
      const std::vector<Tap> across = taps_of(x, side, columns, how);
      for (const Tap& v : down)
        for (const Tap& h : across) {
          const auto old = table.row(v.place * side + h.place);
          for (size_t d = 0; d < width; ++d)
            sums[d] += v.weight * h.weight * static_cast<double>(old[d]);
        }
      std::ranges::transform(sums, out.row(y * columns + x).begin(),
                             [](double sum) { return static_cast<float>(sum); });
    }
  }
  return out;
}

}  // namespace headwater
