// Natural order of names with numbers: layer_2 before layer_10.
#pragma once
#include <string_view>

namespace headwater {

/// Compares runs of digits as numbers of any length, and everything else byte by byte. Names that
/// differ only in leading zeros compare as text, so the order is total.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headwater
