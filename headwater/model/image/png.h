// PNG, by libpng.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/model/image/decoded.h"

namespace headwater {

/// All kinds: grey, colour, palette, with alpha or without, 1 to 16 bits, interlaced or not. A
/// pixel with a number that its palette does not have is black. Throws as read_image does.
DecodedImage read_png(std::span<const std::byte> bytes, const std::string& name);

}  // namespace headwater
