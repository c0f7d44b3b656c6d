// Which way up a photo is: cameras store the sensor's rows and say how to rotate them.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "headwater/core/image.h"

namespace headwater {

/// The orientation in Exif data, 1 to 8; none if there is none or it cannot be read. `exif` starts
/// with the TIFF header, or with "Exif\0\0" before it.
std::optional<int> exif_orientation(std::span<const std::byte> exif);

/// The same for an XMP packet: its first tiff:Orientation.
std::optional<int> xmp_orientation(std::span<const std::byte> xmp);

/// The image, rotated and mirrored so that it is upright. `orientation` is as in Exif: 1 changes
/// nothing, 3 rotates by 180 degrees, 6 by 90 clockwise, 8 by 90 anticlockwise; 2, 4, 5 and 7 are
/// mirrored.
Image upright(Image image, int orientation);

}  // namespace headwater
