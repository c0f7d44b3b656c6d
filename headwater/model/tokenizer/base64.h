// Base64 to bytes.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headwater {

/// The bytes, or nothing if `text` is no base64 of the plain alphabet, padded with '='.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace headwater
