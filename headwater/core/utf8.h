// UTF-8 in and out. Input may be any bytes; output is always valid.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// The code points of `bytes`. Bytes that are not UTF-8 (stray, truncated, overlong, surrogates,
/// above U+10FFFF) become U+FFFD: one for each maximal prefix of a character, as in Unicode.
std::u32string code_points(std::string_view bytes);

/// The same characters as bytes; a value that is not a character becomes U+FFFD.
std::string to_utf8(std::u32string_view points);

/// `bytes` with every part that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view bytes);

/// Whether `c` could change a line that it is printed in without being seen: controls, marks that
/// change the direction of text, characters without width (except joiners, which scripts and emoji
/// need), and the values that Unicode says are never characters.
bool is_unprintable(char32_t c);

}  // namespace headwater
