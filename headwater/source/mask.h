// The token at which a masked model is asked for a word.
#pragma once
#include <string_view>

namespace headwater {

inline bool is_mask_token(std::string_view token) { return token == "[MASK]" || token == "<mask>"; }

}  // namespace headwater
