// Columns of text for a terminal.
#pragma once
#include <string>
#include <vector>

namespace headwater {

/// Lines of cells, columns two spaces apart and each as wide as its widest entry; those with
/// `right` stand at the right of theirs.
std::string table(const std::vector<std::vector<std::string>>& lines,
                  const std::vector<bool>& right);

}  // namespace headwater
