// Base64 to bytes and back.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace headwater {

/// The bytes; none if `text` is not base64 in the plain alphabet, padded with '='.
std::optional<std::string> decode_base64(std::string_view text);

std::string encode_base64(std::string_view bytes);

}  // namespace headwater
