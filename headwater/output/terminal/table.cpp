#include "headwater/output/terminal/table.h"

#include <algorithm>

#include "headwater/core/display_width.h"

namespace headwater {

std::string table(const std::vector<std::vector<std::string>>& lines,
                  const std::vector<bool>& right) {
  std::vector<int> widths(right.size(), 0);
  for (const auto& line : lines)
    for (size_t c = 0; c < line.size(); ++c)
      widths[c] = std::max(widths[c], display_width(line[c]));
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (size_t c = 0; c < line.size(); ++c)
      text += (c > 0 ? "  " : "") + padded(line[c], widths[c], right[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

}  // namespace headwater
