// Reads .png and .jpg files.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "headwater/core/image.h"

namespace headwater {

/// The pixels of a PNG or JPEG file, recognised by its content, not its name. They are byte for
/// byte those of transformers' load_image(path): what Pillow opens, rotated upright by Exif or XMP,
/// as RGB. So transparency is dropped, not blended; 16-bit colours keep their upper byte, but
/// 16-bit grey is clipped at 255, as in Pillow. Throws Error, which names the file, for anything
/// else, for damaged and truncated files, and above 2^28 pixels or 1,000,000 a side.
Image read_image(const std::string& path);

/// The same for a file in memory; `name` appears in errors.
Image read_image(std::span<const std::byte> bytes, const std::string& name);

/// Throws Error if an image may not have that size, before memory is allocated: no pixels, too
/// large, or more pixels than a file of `bytes` can hold at `pixels_a_byte`.
void check_size(int64_t width, int64_t height, size_t bytes, double pixels_a_byte,
                const std::string& name);

}  // namespace headwater
