// What a vision model saw, and where its tokens are in the image.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

/// A rectangle in pixels; (0, 0) is the image's top left corner. It may extend past the image's
/// edges if a model's crop is larger than the image.
struct ImageBox {
  double x = 0, y = 0, width = 0, height = 0;
};

/// First `prefix` tokens without a place (CLS, distillation, registers), then rows x columns
/// patches, row by row from the top left, which cover `seen` evenly.
struct PatchGrid {
  int width = 0, height = 0;  // of the original
  ImageBox seen;              // what the model saw, in pixels of the original
  Image image;                // the original, or a smaller copy of a large one, to draw on
  int rows = 0, columns = 0;
  int prefix = 0;
};

}  // namespace headwater
