// Turns an image into the input of a vision model.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "headwater/model/image/processor_config.h"
#include "headwater/source/patch_grid.h"

namespace headwater {

/// Red, green and blue planes, each height x width, row by row.
struct Pixels {
  int width = 0, height = 0;
  std::vector<float> values;  // 3 * height * width
  ImageBox seen;              // what they show, in pixels of the original image

  /// Row y of colour 0, 1 or 2.
  std::span<const float> row(int colour, int y) const;
};

/// Does what transformers' image processors do with backend="pil" (once called slow): resizes with
/// Pillow's filters, crops the centre, rescales, normalises. The numbers agree to 1e-6. The
/// processors on torchvision (Fast) round differently when they resize, and shift by a pixel if a
/// crop is larger than the image by an odd number.
class ImageProcessor {
 public:
  explicit ImageProcessor(ProcessorConfig config) : config_(std::move(config)) {}
  /// As read_processor_config says.
  static ImageProcessor open(const std::string& folder) {
    return ImageProcessor(read_processor_config(folder));
  }

  const ProcessorConfig& config() const { return config_; }

  /// `image` must not be empty. Throws Error if its shape is so oblong that a side would become 0
  /// or the result would exceed 2^28 pixels.
  Pixels apply(const Image& image) const;

 private:
  ProcessorConfig config_;
};

/// The record of an image in a result: `image` (reduced to at most 1024 pixels a side), the part
/// that the model saw, and the patches.
PatchGrid patch_grid_of(const Image& image, const ImageBox& seen, int rows, int columns,
                        int prefix);

}  // namespace headwater
