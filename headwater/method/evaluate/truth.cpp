#include "headwater/method/evaluate/truth.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {

std::vector<bool> true_tokens(const Description& described, const std::vector<TextSpan>& spans) {
  std::vector<bool> out(described.tokens.size(), false);
  for (const auto& [begin, end] : spans) {
    bool any = false;
    for (size_t t = 0; t < described.places.size(); ++t) {
      const TokenPlace& place = described.places[t];
      if (place.text != 0 || std::max(place.begin, begin) >= std::min(place.end, end)) continue;
      out[t] = any = true;
    }
    if (!any)
      fail("truth [{}, {}] covers no token of {}, expected bytes of its text; check the span",
           begin, end, described.name);
  }
  return out;
}

std::vector<bool> true_patches(const Description& described, const ImageBox& box) {
  if (!described.patches)
    fail("{}: takes no images, expected a model that does for a box; give truth", described.name);
  const PatchGrid& picture = *described.patches;
  std::vector<bool> out(described.tokens.size(), false);
  const double width = picture.seen.width / picture.columns;
  const double height = picture.seen.height / picture.rows;
  bool any = false;
  for (int k = 0; k < picture.rows * picture.columns; ++k) {
    const int row = k / picture.columns, column = k % picture.columns;
    const double x = picture.seen.x + (column + 0.5) * width - box.x;
    const double y = picture.seen.y + (row + 0.5) * height - box.y;
    if (x < 0 || y < 0 || x >= box.width || y >= box.height) continue;
    out[static_cast<size_t>(picture.prefix + k)] = any = true;
  }
  if (!any)
    fail(
        "box [{}, {}, {}, {}] contains the centre of no patch that {} sees, expected at least one; "
        "check the box",
        box.x, box.y, box.width, box.height, described.name);
  return out;
}

std::vector<bool> given_tokens(const Description& described) {
  const size_t n = described.tokens.size();
  std::vector<bool> out(n, true);
  for (size_t t = 0; t < n; ++t) {
    if (described.patches) out[t] = static_cast<int>(t) >= described.patches->prefix;
    if (t < described.places.size() && described.places[t].text < 0) out[t] = false;
  }
  return out;
}

}  // namespace headwater
