// Which side a script is read from.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

enum class ReadingSide { none, left, right };

/// The side that the first letter of the text is read from: `right` for Arabic, Hebrew and their
/// relatives; `none` if there is no letter.
ReadingSide side_of(std::string_view utf8);

/// The same for the pieces of a text. One without a letter has the side of its neighbours if they
/// agree, else the side of the whole text, so a piece is `none` only if no piece has a letter.
std::vector<ReadingSide> sides_of(const std::vector<std::string>& pieces);

}  // namespace headwater
