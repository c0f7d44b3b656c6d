// Where the bytes of an output go, piece after piece.
#pragma once
#include <functional>
#include <string_view>

namespace headwater {

using Sink = std::function<void(std::string_view bytes)>;

}  // namespace headwater
