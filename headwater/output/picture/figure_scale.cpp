#include "headwater/output/picture/figure_scale.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace headwater {
namespace {

constexpr size_t large_picture = 128 * 128;  // cells

struct CellScale {
  double top = 1;              // the upper end
  double least = 0, most = 0;  // of all values
};

// The upper end of the scale is the largest value. A few cells, such as the first token of causal
// attention or [CLS], would then leave all others dark. In a large picture the scale ends at a
// value that nearly all cells are below, in a small one at the largest of the text's own tokens,
// and the picture says so.
CellScale scale_of(std::span<const Panel> panels, const Axis& x) {
  std::vector<float> values;
  float own = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Panel& panel : panels)
    for (int r = 0; r < panel.values.rows(); ++r)
      for (int c = 0; c < panel.values.columns(); ++c) {
        const float size = std::abs(panel.values(r, c));
        values.push_back(size);
        least = std::min<double>(least, panel.values(r, c));
        if (x.bin > 1 || x.special.empty() || !x.special[static_cast<size_t>(c)])
          own = std::max(own, size);
      }
  const auto rank = values.begin() + static_cast<std::ptrdiff_t>(0.995 * (values.size() - 1));
  std::nth_element(values.begin(), rank, values.end());
  const float most = *std::max_element(rank, values.end());
  const float end = values.size() > large_picture ? *rank : own;
  return {end > 0 && most > 3 * end ? end : most > 0 ? most : 1, least, most};
}

}  // namespace

void set_top(Figure& figure, double top, double most) {
  figure.top = top;
  figure.cut = most > top;
  if (!figure.cut) return;
  figure.caption += fmt::format(", cut at {:.3g}", top);
  figure.details.push_back(fmt::format("colours cut at {:.3g}, largest value {:.3g}", top, most));
}

bool set_own_scales(Figure& figure) {
  Grid& grid = std::get<Grid>(figure.body);
  std::vector<CellScale> scales;
  for (const Panel& panel : grid.panels) scales.push_back(scale_of({&panel, 1}, grid.x));
  const auto [low, high] = std::ranges::minmax(scales, {}, &CellScale::top);
  if (high.top <= 3 * low.top) return false;
  std::vector<std::string> cut;
  for (size_t k = 0; k < scales.size(); ++k) {
    grid.panels[k].top = scales[k].top;
    if (scales[k].most > scales[k].top)
      cut.push_back(fmt::format("{} at {:.3g} of {:.3g}", grid.panels[k].title, scales[k].top,
                                scales[k].most));
  }
  figure.details.push_back("each panel has its own scale");
  if (!cut.empty()) figure.details.push_back(fmt::format("colours cut: {}", fmt::join(cut, ", ")));
  return true;
}

void set_scale(Figure& figure) {
  const Grid& grid = std::get<Grid>(figure.body);
  const CellScale scale = scale_of(grid.panels, grid.x);
  set_top(figure, scale.top, scale.most);
  if (figure.has_signs || figure.cut || scale.least <= 0.5 * scale.top) return;
  // Values that are much alike would all be bright. The scale shows how they differ, or, if that is
  // next to nothing, puts all of them in its middle.
  if (scale.least < 0.95 * scale.top)
    figure.bottom = scale.least;
  else
    figure.top = 2 * scale.most;
}

}  // namespace headwater
