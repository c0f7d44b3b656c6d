// The token that a masked model fills in.
#pragma once
#include <string_view>

namespace headwater {

inline bool is_mask_token(std::string_view token) { return token == "[MASK]" || token == "<mask>"; }

}  // namespace headwater
