#include "headwater/output/terminal/table.h"

#include <algorithm>

#include "headwater/core/display_width.h"
#include "headwater/output/terminal/isolate.h"

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
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string cell = padded(line[c], widths[c], right[c]);
      const size_t at = right[c] ? cell.size() - line[c].size() : 0;
      text += (c > 0 ? "  " : "") + cell.substr(0, at) + isolated(line[c]) +
              cell.substr(at + line[c].size());
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

}  // namespace headwater
