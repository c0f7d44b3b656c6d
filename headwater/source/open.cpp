#include "headwater/source/open.h"

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

// One item that keeps its batch alive.
class OwningSource : public Source {
 public:
  OwningSource(std::unique_ptr<Batch> batch, int item)
      : batch_(std::move(batch)), source_(batch_->item(item)) {}
  const Example& example() const override { return source_->example(); }
  void layers(Fuse fuse, Range range, Direction direction, const Visit& visit) override {
    source_->layers(fuse, range, direction, visit);
  }
  void rows(Fuse fuse, Range range, Direction direction, RowVisitor& visitor) override {
    source_->rows(fuse, range, direction, visitor);
  }
  std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<Batch> batch_;
  std::unique_ptr<Source> source_;
};

}  // namespace

std::unique_ptr<Batch> open_batch(const std::string& path, const ReadOptions& options) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    fail("{}: is not there, expected a file with attention; check the name", path);
  std::vector<std::string_view> endings;
  for (const Format& format : formats) {
    if (path.ends_with(format.ending))
      return std::make_unique<AttentionBatch>(format.read(path), options);
    endings.push_back(format.ending);
  }
  if (std::filesystem::is_directory(path, missing))
    fail(
        "{}: is a folder, expected a file with attention (.npy .npz .safetensors .json); name the "
        "file in it",
        path);
  fail_usage("{}: has an ending that no input format has{}", path,
             suggestion(std::filesystem::path(path).extension().string(), endings));
}

std::unique_ptr<Source> open(const std::string& path, const ReadOptions& options,
                             std::optional<int> item) {
  std::unique_ptr<Batch> batch = open_batch(path, options);
  const int count = batch->size();
  if (!item && count > 1)
    fail("{}: holds a batch of {}, expected one item; choose it with --item K or take --item all",
         path, count);
  const int k = item.value_or(0) < 0 ? item.value_or(0) + count : item.value_or(0);
  if (k < 0 || k >= count)
    fail("{}: has no item {}, expected 0 to {}; choose another", path, *item, count - 1);
  return std::make_unique<OwningSource>(std::move(batch), k);
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
