// JPEG, with libjpeg-turbo.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/model/image/decoded.h"

namespace headwater {

/// Grey, YCbCr, RGB, and CMYK or YCCK with Adobe's inverted inks; baseline and progressive. Throws
/// as read_image does, and for more than 20 scans that add up to 2^25 pixels: programs make about
/// ten, so more is an attack.
DecodedImage read_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace headwater
