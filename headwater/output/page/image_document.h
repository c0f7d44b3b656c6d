// The image that a vision model saw, as a page shows it.
#pragma once
#include "headwater/output/document.h"

namespace headwater {

/// {uri, width, height, seen, rows, columns, prefix}; `uri` is the picture itself.
Document image_document(const PatchGrid& grid);

}  // namespace headwater
