// The patches of an image as coloured blocks in a terminal.
#pragma once
#include <string>

#include "headwater/output/picture/figure.h"

namespace headwater {

/// The part of the image that the model saw, where there is room for it, and beside it the last
/// panel's patches; a line each, two columns wide, or half of that where the terminal is narrow; in
/// the end which values the ends of the colours are. Lines are at most `width` columns.
std::string patches_text(const Overlay& overlay, int width);

}  // namespace headwater
