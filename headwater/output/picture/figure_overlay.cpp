#include "headwater/output/picture/figure_overlay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/core/fail.h"
#include "headwater/output/caption.h"
#include "headwater/result/left_out.h"

namespace headwater {
namespace {

// The share of the row before the patches: "12.5 % of the mass in [CLS], 30.1 % in 4 more"; of
// values with signs, their sums.
std::string prefix_mass(const Attribution& result, std::span<const float> row) {
  const size_t prefix = static_cast<size_t>(result.source.patches->prefix);
  const auto share = [&](size_t begin, size_t end) {
    std::vector<bool> others(row.size(), true);
    std::fill(others.begin() + static_cast<std::ptrdiff_t>(begin),
              others.begin() + static_cast<std::ptrdiff_t>(end), false);
    return 100 * mass_left_out(row, others);
  };
  if (prefix == 0) return "";
  const std::vector<std::string> labels = token_labels(result.source.tokens, 16);
  if (result.has_signs) {  // which have no shares
    std::string out = fmt::format("{:.3g} in {}", row[0], labels[0]);
    if (prefix > 1)
      out += fmt::format(
          ", {:.3g} in {} more",
          std::accumulate(row.begin() + 1, row.begin() + result.source.patches->prefix, 0.0),
          prefix - 1);
    return out;
  }
  std::string out = fmt::format("{:.1f} % of the mass in {}", share(0, 1), labels[0]);
  if (prefix == 2) out += fmt::format(", {:.1f} % in {}", share(1, 2), labels[1]);
  if (prefix > 2) out += fmt::format(", {:.1f} % in {} more", share(1, prefix), prefix - 1);
  return out;
}

OverlayPanel panel_of(const Attribution& result, const Matrix& values, int r, const Filter& filter,
                      const std::string& path) {
  const PatchGrid& picture = *result.source.patches;
  const std::vector<bool> shown = kept(filter, result.source.tokens);
  Vector row(values.row(r).begin(), values.row(r).end());
  if (filter.any() && filter.renormalise) renormalise(values.row(r), shown, row);
  OverlayPanel panel;
  panel.seen = picture.seen;
  panel.note = prefix_mass(result, values.row(r));
  panel.values = Matrix(picture.rows, picture.columns);
  bool any = false;
  size_t j = static_cast<size_t>(picture.prefix);
  for (int y = 0; y < picture.rows; ++y)
    for (int x = 0; x < picture.columns; ++x, ++j) {
      const bool there = shown[j] && std::isfinite(row[j]);
      panel.values(y, x) = there ? row[j] : std::numeric_limits<float>::quiet_NaN();
      any = any || shown[j];
    }
  if (!any)
    fail("{}: the filter leaves none of {} patches, expected at least one; filter less", path,
         picture.rows * picture.columns);
  return panel;
}

Overlay overlay_on(const PatchGrid& picture) {
  return {
      picture.image, static_cast<double>(picture.width), static_cast<double>(picture.height), {}};
}

}  // namespace

bool has_overlay(const Attribution& result) {
  if (!result.source.patches || !result.columns.empty() || result.values.empty()) return false;
  const PatchGrid& picture = *result.source.patches;
  return !picture.image.empty() && picture.width > 0 && picture.height > 0 &&
         picture.seen.width > 0 && picture.seen.height > 0 && picture.rows > 0 &&
         picture.columns > 0 && picture.prefix >= 0 && result.values.back().rows() > 0 &&
         result.values.back().columns() == picture.prefix + picture.rows * picture.columns;
}

bool has_overlay(const Comparison& result) {
  for (const Attribution& panel : result.panels)
    if (!has_overlay(panel) ||
        panel.values.back().rows() != result.panels[0].values.back().rows() ||
        !(panel.source.patches->image == result.panels[0].source.patches->image))
      return false;
  return !result.panels.empty();
}

Overlay overlay_of(const Attribution& result, int r, const Filter& filter,
                   const std::string& path) {
  Overlay out = overlay_on(*result.source.patches);
  out.has_signs = result.has_signs;
  for (size_t k = 0; k < result.values.size(); ++k) {
    out.panels.push_back(panel_of(result, result.values[k], r, filter, path));
    if (!result.by_layer.empty()) out.panels.back().title = layer_name(result, k);
  }
  return out;
}

Overlay overlay_of(const Comparison& result, int r, const Filter& filter, const std::string& path) {
  Overlay out = overlay_on(*result.panels.front().source.patches);
  for (const Attribution& panel : result.panels) {
    out.panels.push_back(panel_of(panel, panel.values.back(), r, filter, path));
    out.panels.back().title = source_text(panel.label);
  }
  return out;
}

}  // namespace headwater
