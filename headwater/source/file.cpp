#include "headwater/source/file.h"

#include <algorithm>
#include <filesystem>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/source/attention_batch.h"
#include "headwater/source/json.h"
#include "headwater/source/npy.h"
#include "headwater/source/npz.h"
#include "headwater/source/safetensors.h"

namespace headwater {
namespace {

struct Format {
  std::string_view ending;
  Arrays (*read)(const std::string& path);
};

constexpr Format formats[] = {
    {".npy", read_npy},
    {".npz", read_npz},
    {".safetensors", read_safetensors},
    {".json", read_json},
};

}  // namespace

bool is_attention_file(const std::string& path) {
  return std::ranges::any_of(formats,
                             [&](const Format& one) { return path.ends_with(one.ending); });
}

std::unique_ptr<Batch> open_file(const std::string& path, const ReadOptions& options) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    fail("{}: does not exist, expected a file with attention; check the name", path);
  std::vector<std::string_view> endings;
  for (const Format& format : formats) {
    if (path.ends_with(format.ending))
      return std::make_unique<AttentionBatch>(format.read(path), options);
    endings.push_back(format.ending);
  }
  fail_usage("{}: has an unknown ending{}", path,
             suggestion(std::filesystem::path(path).extension().string(), endings));
}

std::unique_ptr<Batch> from_memory(const std::vector<ArrayView>& layers, const std::string& name,
                                   const ReadOptions& options) {
  Arrays arrays;
  arrays.format = "memory";
  arrays.name = name;
  for (const ArrayView& view : layers) {
    Tensor tensor;
    tensor.name = std::to_string(arrays.layers.size());
    tensor.type = view.type;
    tensor.shape = view.shape;
    const uint64_t count =
        count_of(view.shape, view.type, fmt::format("{}: array {}", name, tensor.name));
    tensor.bytes = {static_cast<const std::byte*>(view.data), count * size_of(view.type)};
    arrays.layers.push_back(std::move(tensor));
  }
  return std::make_unique<AttentionBatch>(std::move(arrays), options);
}

}  // namespace headwater
