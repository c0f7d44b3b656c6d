// Columns of text for a terminal.
#pragma once
#include <string>
#include <vector>

namespace headwater {

/// Lines of cells. Columns are as wide as their widest cell and two spaces apart; those with
/// `right` are right-aligned.
std::string table(const std::vector<std::vector<std::string>>& lines,
                  const std::vector<bool>& right);

}  // namespace headwater
