// Resizes images exactly as Pillow does: vision models are trained on its pixels.
#pragma once
#include "headwater/core/image.h"

namespace headwater {

/// Pillow's filters, with their numbers in preprocessor_config.json.
enum class Resample { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

/// The result of Image.resize((width, height), filter) in Pillow 13, to the pixel: rows and columns
/// one after the other, each rounded to bytes; a side that keeps its length is skipped. All sides
/// must be at least 1. Time: input pixels times the filter's width (1 to 6), on all threads.
Image resize(const Image& image, int width, int height, Resample filter);

/// `width` by `height` pixels from the centre, black outside the image: transformers' center_crop.
Image centre_crop(const Image& image, int width, int height);

/// How many pixels centre_crop removes before the first column (for widths) or row (for heights);
/// negative if it adds some.
int crop_begin(int have, int wanted);

}  // namespace headwater
