#include "headwater/model/image/processor_config.h"

#include <simdjson.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/mapped_file.h"
#include "headwater/core/parse_json.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;

constexpr size_t largest_file = 1 << 20;
constexpr int longest_side = 1 << 14;

// Entries that have no effect here: names, versions, and transformers' own bookkeeping.
const std::set<std::string_view> neutral = {"image_processor_type",
                                            "feature_extractor_type",
                                            "processor_class",
                                            "input_data_format",
                                            "device",
                                            "return_tensors",
                                            "disable_grouping",
                                            "image_seq_length",
                                            "_valid_processor_keys",
                                            "model_input_names",
                                            "do_convert_rgb",
                                            "transformers_version"};

dom::element parsed(dom::parser& parser, const std::string& path) {
  const MappedFile file(path);
  if (file.bytes().size() > largest_file)
    fail("{}: has {} bytes, expected at most {}; check the file", path, file.bytes().size(),
         largest_file);
  dom::element root;
  if (const auto error = parse_json(parser, as_text(file.bytes()), root))
    fail("{}: is not JSON ({}), expected an object; check the file", path,
         simdjson::error_message(error));
  if (!root.is_object()) fail("{}: is not an object, expected one; check the file", path);
  return root;
}

std::string text_at(const dom::element& object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) ? std::string() : std::string(text);
}

// "ViT", "DeiT", "Bit", "CLIP" or "Siglip".
std::string family_of(const dom::element& root, const std::string& file,
                      const std::string& folder) {
  std::string type = text_at(root, "image_processor_type");
  if (type.empty()) type = text_at(root, "feature_extractor_type");
  if (type.empty()) {
    dom::parser parser;
    const std::string path = folder + "/config.json";
    const std::string model = text_at(parsed(parser, path), "model_type");
    if (model == "vit") return "ViT";
    if (model == "deit") return "DeiT";
    if (model == "dinov2" || model == "dinov2_with_registers") return "Bit";
    if (model.starts_with("clip")) return "CLIP";
    if (model.starts_with("siglip")) return "Siglip";
    fail(
        "{}: names no image_processor_type, and the model_type of config.json is '{}', expected "
        "vit, deit, dinov2, clip or siglip; add the image_processor_type",
        file, model);
  }
  for (const char* family : {"ViT", "DeiT", "Bit", "CLIP", "Siglip"})
    for (const char* kind :
         {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil", "FeatureExtractor"})
      if (type == std::string(family) + kind) return family;
  fail(
      "{}: image_processor_type is '{}', expected the ImageProcessor of ViT, DeiT, Bit, CLIP or "
      "Siglip; other processors are not implemented",
      file, type);
}

ProcessorConfig defaults(const std::string& family) {
  ProcessorConfig out;
  if (family == "ViT") return out;
  out.resample = Resample::bicubic;
  if (family == "Siglip") return out;
  out.do_center_crop = true;
  if (family == "DeiT") {
    out.size = {.height = 256, .width = 256};
  } else {
    out.size = {.shortest_edge = 224};
    out.image_mean = {0.48145466, 0.4578275, 0.40821073};
    out.image_std = {0.26862954, 0.26130258, 0.27577711};
  }
  return out;
}

class Reader {
 public:
  Reader(ProcessorConfig config, bool square) : config_(std::move(config)), square_(square) {}

  ProcessorConfig read(const dom::object& entries) {
    for (const dom::key_value_pair entry : entries)
      if (entry.key == "default_to_square" && !entry.value.is_null())
        square_ = truth(entry.key, entry.value);
    for (const dom::key_value_pair entry : entries)
      if (!entry.value.is_null()) take(entry.key, entry.value);
    return std::move(config_);
  }

 private:
  void take(std::string_view key, const dom::element& value) {
    if (key == "do_resize")
      config_.do_resize = truth(key, value);
    else if (key == "do_center_crop")
      config_.do_center_crop = truth(key, value);
    else if (key == "do_rescale")
      config_.do_rescale = truth(key, value);
    else if (key == "do_normalize")
      config_.do_normalize = truth(key, value);
    else if (key == "rescale_factor")
      config_.rescale_factor = number(key, value);
    else if (key == "image_mean")
      config_.image_mean = three(key, value);
    else if (key == "image_std")
      config_.image_std = three(key, value);
    else if (key == "resample")
      config_.resample = filter(key, value);
    else if (key == "size")
      config_.size = size(key, value, square_);
    else if (key == "crop_size")
      take_crop(key, value);
    else if (!changes_nothing(key, value))
      fail(
          "{}: has {} = {}, which is not implemented, expected only what the processors of ViT, "
          "DeiT, BiT, CLIP and SigLIP have; remove it if it has no effect",
          config_.file, key, std::string(simdjson::minify(value)));
  }

  void take_crop(std::string_view key, const dom::element& value) {
    const TargetSize crop = size(key, value, true);
    if (crop.height == 0) refuse(key, value, "height and width");
    config_.crop_height = crop.height;
    config_.crop_width = crop.width;
  }

  static bool changes_nothing(std::string_view key, const dom::element& value) {
    if (neutral.contains(key) || key == "default_to_square") return true;
    if (bool on = true; key.starts_with("do_") && !value.get(on)) return !on;
    std::string_view text;
    if (key == "data_format") return !value.get(text) && text == "channels_first";
    return key == "pad_size";  // without do_pad
  }

  bool truth(std::string_view key, const dom::element& value) const {
    bool out = false;
    if (value.get(out)) refuse(key, value, "true or false");
    return out;
  }

  double number(std::string_view key, const dom::element& value) const {
    double out = 0;
    if (value.get(out) || !std::isfinite(out) || std::abs(out) > 1e30)
      refuse(key, value, "a number");
    return out;
  }

  int side(std::string_view key, const dom::element& value) const {
    int64_t out = 0;
    if (value.get(out) || out < 1 || out > longest_side)
      refuse(key, value, fmt::format("a whole number from 1 to {}", longest_side));
    return static_cast<int>(out);
  }

  std::array<double, 3> three(std::string_view key, const dom::element& value) const {
    std::array<double, 3> out = {};
    dom::array list;
    if (value.get(list)) {
      out.fill(number(key, value));
    } else {
      if (list.size() != 3) refuse(key, value, "three numbers");
      for (size_t k = 0; k < 3; ++k) out[k] = number(key, list.at(k).value());
    }
    for (const double one : out)
      if (key == "image_std" && static_cast<float>(one) == 0) refuse(key, value, "no zero");
    return out;
  }

  Resample filter(std::string_view key, const dom::element& value) const {
    int64_t out = 0;
    if (value.get(out) || out < 0 || out > 5) refuse(key, value, "a filter of Pillow's, 0 to 5");
    return static_cast<Resample>(out);
  }

  TargetSize size(std::string_view key, const dom::element& value, bool square) const {
    dom::array list;
    if (!value.get(list)) {
      if (list.size() != 2) refuse(key, value, "height and width");
      return {.height = side(key, list.at(0).value()), .width = side(key, list.at(1).value())};
    }
    dom::object object;
    if (value.get(object)) {
      const int both = side(key, value);
      return square ? TargetSize{.height = both, .width = both} : TargetSize{.shortest_edge = both};
    }
    TargetSize out;
    for (const dom::key_value_pair entry : object) {
      if (entry.value.is_null()) continue;
      int* const place = entry.key == "height"          ? &out.height
                         : entry.key == "width"         ? &out.width
                         : entry.key == "shortest_edge" ? &out.shortest_edge
                         : entry.key == "longest_edge"  ? &out.longest_edge
                         : entry.key == "max_height"    ? &out.max_height
                         : entry.key == "max_width"     ? &out.max_width
                                                        : nullptr;
      if (place == nullptr) refuse(key, value, known_sizes);
      *place = side(key, entry.value);
    }
    const bool exact = out.height > 0 && out.width > 0, edge = out.shortest_edge > 0,
               within = out.max_height > 0 && out.max_width > 0;
    const bool stray = (out.height > 0 || out.width > 0) != exact ||
                       (out.max_height > 0 || out.max_width > 0) != within ||
                       (out.longest_edge > 0 && !edge);
    if (exact + edge + within != 1 || stray) refuse(key, value, known_sizes);
    return out;
  }

  [[noreturn]] void refuse(std::string_view key, const dom::element& value,
                           std::string_view expected) const {
    fail("{}: {} is {}, expected {}; check the file", config_.file, key,
         std::string(simdjson::minify(value)), expected);
  }

  static constexpr std::string_view known_sizes =
      "height and width, shortest_edge (and longest_edge), or max_height and max_width";

  ProcessorConfig config_;
  bool square_;  // one number means both sides, not the shortest
};

}  // namespace

ProcessorConfig read_processor_config(const std::string& folder) {
  dom::parser parser;
  std::string file = folder + "/processor_config.json";
  dom::element root;
  bool nested = false;
  if (std::filesystem::exists(file))
    nested = !parsed(parser, file).at_key("image_processor").get(root);
  if (!nested) {
    file = folder + "/preprocessor_config.json";
    if (!std::filesystem::exists(file))
      fail(
          "{}: has no preprocessor_config.json, expected one next to config.json; it says how an "
          "image is resized and normalised for the model, and save_pretrained of its image "
          "processor writes it",
          folder);
    root = parsed(parser, file);
  }
  dom::object entries;
  if (root.get(entries))
    fail("{}: image_processor is not an object, expected one; check the file", file);
  const std::string family = family_of(root, file, folder);
  ProcessorConfig config = defaults(family);
  config.file = file;
  return Reader(std::move(config), family == "ViT" || family == "DeiT").read(entries);
}

}  // namespace headwater
