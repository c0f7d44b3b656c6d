// Bytes as preprocessor_config.json, then an image through it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "headwater/model/image/processor.h"
#include "tests/fuzz/structure/json.h"

namespace {
constexpr std::string_view words =
    "Bit CLIP DeiT ViTFeatureExtractor ViTImageProcessor ViTImageProcessorFast "
    "SiglipImageProcessor _valid_processor_keys channels_first crop_size data_format "
    "default_to_square device disable_grouping do_center_crop do_convert_rgb do_normalize "
    "do_rescale do_resize do_pad feature_extractor_type height image_mean image_processor "
    "image_processor_type image_std input_data_format longest_edge max_height max_width "
    "pad_size processor_class resample rescale_factor return_tensors shortest_edge size width";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  headwater::set_threads(1);
  static const std::string folder = [] {
    std::string place = (std::filesystem::temp_directory_path() / "headwater-fuzz-XXXXXX").string();
    if (mkdtemp(place.data()) == nullptr) std::abort();
    std::ofstream(place + "/config.json") << R"({"model_type": "vit"})";
    return place;
  }();
  std::ofstream(folder + "/preprocessor_config.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto processor = headwater::ImageProcessor::open(folder);
    const headwater::TargetSize& to = processor.config().size;
    // Large ones are slow, not wrong.
    if (std::max({to.height, to.width, to.shortest_edge, to.max_height, to.max_width,
                  processor.config().crop_height, processor.config().crop_width}) > 600)
      return 0;
    const headwater::Pixels pixels = processor.apply(headwater::Image(7, 5));
    if (pixels.values.size() !=
        size_t{3} * static_cast<size_t>(pixels.width) * static_cast<size_t>(pixels.height))
      std::abort();
  } catch (const headwater::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::json_change(words));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  return headwater::fuzz::cross_json(data, size, other, other_size, out, most, seed);
}
