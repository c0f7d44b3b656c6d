#include "headwater/source/file.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/source/attention_batch.h"
#include "headwater/source/file_kind.h"
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
  const std::optional<FileKind> kind = kind_of_file(path);
  for (const Format& format : formats) {
    if (path.ends_with(format.ending)) {
      if (kind && kind->ending != format.ending)
        fail("{}: is {}, expected {} as its name says; {}", path, kind->name, format.ending,
             kind->advice);
      return std::make_unique<AttentionBatch>(format.read(path), options);
    }
    endings.push_back(format.ending);
  }
  if (kind)
    fail_usage("{}: is {}, expected a file of attention: .npy, .npz, .safetensors or .json; {}",
               path, kind->name, kind->advice);
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
