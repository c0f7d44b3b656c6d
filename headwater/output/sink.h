// Receives the bytes of an output, piece by piece.
#pragma once
#include <functional>
#include <string_view>

namespace headwater {

using Sink = std::function<void(std::string_view bytes)>;

}  // namespace headwater
