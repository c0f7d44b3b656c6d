// How many terminal columns a text takes, to align tables in any script.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// 0 for combining marks and invisible characters, 2 for East Asian wide characters and emoji, else
/// 1. Control characters count as 0: never print them.
int display_width(char32_t c);

/// The sum over the characters of `utf8`.
int display_width(std::string_view utf8);

/// `utf8` padded with spaces to `width` columns: on the right, or with `right` on the left.
std::string padded(std::string_view utf8, int width, bool right = false);

}  // namespace headwater
