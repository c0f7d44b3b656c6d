// Images in other sizes, exactly as Pillow makes them: vision models are trained on its pixels.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

/// Pillow's filters, with the numbers that preprocessor_config.json has for them.
enum class Resample { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// What Image.resize((width, height), filter) of Pillow 13 gives, to the pixel: rows and columns
/// one after the other, each rounded to bytes; a side that keeps its length is left alone. Both
/// sides, and those of `image`, must be at least 1. Time: pixels that go in times the filter's
/// width (1 to 6), on all threads.
Image resize(const Image& image, int width, int height, Resample filter);

/// `width` by `height` pixels from the middle, black where the image does not reach: transformers'
/// center_crop.
Image centre_crop(const Image& image, int width, int height);

/// How many pixels centre_crop leaves out before the first column (for widths) or row (for
/// heights); negative where it adds some.
int crop_begin(int have, int wanted);

}  // namespace headwater
