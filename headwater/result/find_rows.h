// Which rows of a text are meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headwater/layer/options.h"

namespace headwater {

/// The rows that `row` names, in its order. A word is the first token, or the pieces of the first
/// word, of that spelling. Empty for Kind::mean, which is not a single row. Throws Error if no row
/// matches, with the nearest token.
std::vector<int> find_rows(const Row& row, const std::vector<std::string>& tokens,
                           std::string_view source);

/// The same for methods that ask about one output token. Throws Error if there are several.
int find_one_row(const Row& row, const std::vector<std::string>& tokens, std::string_view source);

}  // namespace headwater
