// JPEG, by libjpeg-turbo.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/model/image/decoded.h"

namespace headwater {

/// Grey, YCbCr, RGB, and CMYK or YCCK with Adobe's inverted inks; baseline and progressive. Throws
/// as read_image does, and for an image of more than 20 scans that are 2^25 pixels together, which
/// is a trap: programs make about ten.
DecodedImage read_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace headwater
