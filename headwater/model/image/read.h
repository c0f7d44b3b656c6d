// Pictures in: .png and .jpg files.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/core/image.h"

namespace headwater {

/// The pixels of a PNG or JPEG file, which its content tells, not its name. They are, byte for
/// byte, those that transformers' load_image(path) has: what Pillow opens, turned upright as Exif
/// or XMP says, as RGB. So transparency is dropped, not blended; 16-bit colours keep their upper
/// byte; but 16-bit grey is cut at 255, as Pillow does. Throws Error, which names the file, for
/// anything else, for damaged and cut files, and above 2^28 pixels or 1,000,000 a side.
Image read_image(const std::string& path);

/// The same of a file in memory; `name` stands in errors.
Image read_image(std::span<const std::byte> bytes, const std::string& name);

/// Throws Error if an image may not have that size, before room for it is made: no picture, too
/// large, or more pixels than a file of `bytes` can hold at `pixels_a_byte`.
void check_size(int64_t width, int64_t height, size_t bytes, double pixels_a_byte,
                const std::string& name);

}  // namespace headwater
