// UTF-8 in and out. What comes in may be any bytes; what goes out is always valid.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// The code points of `bytes`. Bytes that are no UTF-8 (stray, cut short, overlong, surrogates,
/// above U+10FFFF) become U+FFFD, one for each longest beginning of a character, as Unicode
/// recommends.
std::u32string code_points(std::string_view bytes);

/// The same characters as bytes; a number that is no character becomes U+FFFD.
std::string to_utf8(std::u32string_view points);

/// `bytes` with every part that is no UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view bytes);

}  // namespace headwater
