// Images as parts: the chunks of a PNG, the segments of a JPEG.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

/// A chunk of a PNG, with its checksum, or a segment of a JPEG, with its length. Pixels of a PNG
/// are changed behind its compression.
std::string changed_image(std::string_view file, Chance& chance);

}  // namespace headwater::fuzz
