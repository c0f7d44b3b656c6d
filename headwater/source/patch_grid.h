// What a vision model was shown, and which of its tokens lies where.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

/// A rectangle in the pixels of an image; (0, 0) is the image's top left corner. It may reach over
/// the image's edges, where a model's crop is larger than the image.
struct ImageBox {
  double x = 0, y = 0, width = 0, height = 0;
};

/// The tokens are `prefix` that stand for no place (CLS, distillation, registers), then rows x
/// columns patches, row by row from the top left, that cover `seen` evenly.
struct PatchGrid {
  int width = 0, height = 0;  // of the original
  ImageBox seen;              // what the model saw, in pixels of the original
  Image image;                // the original, or a smaller copy of a large one: to draw on
  int rows = 0, columns = 0;
  int prefix = 0;
};

}  // namespace headwater
