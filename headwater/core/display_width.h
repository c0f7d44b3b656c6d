// How many columns of a terminal a text takes, so that tables stay aligned in any script.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// 0 for marks that combine with the character before and for invisible ones, 2 for East Asian wide
/// characters and emoji, else 1. Control characters count 0: they must not be printed at all.
int display_width(char32_t c);

/// The sum over the characters of `utf8`.
int display_width(std::string_view utf8);

/// `utf8` followed (or, with `right`, preceded) by the spaces that make it `width` columns wide.
std::string padded(std::string_view utf8, int width, bool right = false);

}  // namespace headwater
