// The order of names with numbers in them: layer_2 before layer_10.
#pragma once
#include <string_view>

namespace headwater {

/// Compares runs of digits as numbers of any length and everything else byte by byte; names that
/// differ only in leading zeros are ordered as text, so that the order is total.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace headwater
