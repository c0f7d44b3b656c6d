// Which way up a photo is: cameras store the sensor's rows and say how to turn them.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "headwater/core/image.h"

namespace headwater {

/// The orientation that Exif data claims, 1 to 8, or none where it claims none or cannot be read.
/// `exif` begins with the TIFF header, or with "Exif\0\0" before it.
std::optional<int> exif_orientation(std::span<const std::byte> exif);

/// The same of an XMP packet: its first tiff:Orientation.
std::optional<int> xmp_orientation(std::span<const std::byte> xmp);

/// The image turned and mirrored so that it is upright. `orientation` as Exif counts: 1 leaves it
/// as it is, 3 turns it by 180 degrees, 6 by 90 clockwise, 8 by 90 anticlockwise, 2, 4, 5 and 7 are
/// mirrored.
Image upright(Image image, int orientation);

}  // namespace headwater
