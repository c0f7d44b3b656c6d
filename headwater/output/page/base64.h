// Bytes as text that is safe anywhere in a page.
#pragma once
#include <string>
#include <string_view>

namespace headwater {

/// With padding, on one line.
std::string base64_of(std::string_view bytes);

}  // namespace headwater
