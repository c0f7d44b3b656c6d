// Base64 to bytes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headwater {

/// The bytes; none if `text` is not base64 in the plain alphabet, padded with '='.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace headwater
