// The patches of an image as coloured blocks in a terminal.
#pragma once
#include <string>

#include "headwater/output/picture/figure.h"

namespace headwater {

/// The patches of the last panel, coloured, and beside them the part of the image that the model
/// saw if there is room. A patch is one line and two columns, or half of that on a narrow terminal.
/// A last line gives the values at the ends of the colours. Lines have at most `width` columns.
std::string patches_text(const Overlay& overlay, int width);

}  // namespace headwater
