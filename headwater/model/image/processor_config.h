// preprocessor_config.json: how an image is prepared for a vision model.
#pragma once
#include <array>
#include <string>

#include "headwater/model/image/resize.h"

namespace headwater {

/// The size to resize to. Exactly one of the three is given; the others are 0.
struct TargetSize {
  int height = 0, width = 0;                // exactly these
  int shortest_edge = 0, longest_edge = 0;  // keeps the aspect ratio; longest_edge 0: no bound
  int max_height = 0, max_width = 0;        // as large as fits; keeps the aspect ratio
};

struct ProcessorConfig {
  std::string file;  // its path, for errors
  bool do_resize = true;
  TargetSize size = {.height = 224, .width = 224};
  Resample resample = Resample::bilinear;
  bool do_center_crop = false;
  int crop_height = 224, crop_width = 224;
  bool do_rescale = true;
  double rescale_factor = 1.0 / 255;
  bool do_normalize = true;
  std::array<double, 3> image_mean = {0.5, 0.5, 0.5}, image_std = {0.5, 0.5, 0.5};
};

/// Reads the "image_processor" of `folder`/processor_config.json, or else preprocessor_config.json,
/// for the processors of ViT, DeiT, BiT (which DINOv2 uses), CLIP and SigLIP. Missing and null
/// entries have the processor's default in transformers. If the file names no processor,
/// config.json's model_type selects it. Throws Error for a missing or broken file, for another
/// processor, and for an entry that is not implemented here: only entries without effect are
/// ignored.
ProcessorConfig read_processor_config(const std::string& folder);

}  // namespace headwater
