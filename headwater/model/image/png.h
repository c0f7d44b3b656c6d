// PNG, with libpng.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/model/image/decoded.h"

namespace headwater {

/// All kinds: grey, colour, palette, with or without alpha, 1 to 16 bits, interlaced or not. A
/// pixel whose number is not in the palette is black. Throws as read_image does.
DecodedImage read_png(std::span<const std::byte> bytes, const std::string& name);

}  // namespace headwater
