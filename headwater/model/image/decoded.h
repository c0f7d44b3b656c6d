// What a reader of a format found.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

struct DecodedImage {
  Image image;
  int orientation = 1;  // as Exif counts
};

}  // namespace headwater
