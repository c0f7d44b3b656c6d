// The result of decoding an image file.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

struct DecodedImage {
  Image image;
  int orientation = 1;  // as in Exif
};

}  // namespace headwater
