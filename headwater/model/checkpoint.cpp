#include "headwater/model/checkpoint.h"

#include <simdjson.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/source/safetensors.h"

namespace headwater {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

bool is_weight(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

// file name -> the tensors in it according to the index
std::map<std::string, std::vector<std::string>> read_index(const std::string& path) {
  const MappedFile file(path);
  const simdjson::padded_string text(reinterpret_cast<const char*>(file.bytes().data()),
                                     file.bytes().size());
  dom::parser parser;
  dom::object root, map;
  if (parser.parse(text).get(root) || root["weight_map"].get(map))
    fail("{}: has no 'weight_map', expected the names of tensors and their files; save it again",
         path);
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& [name, value] : map) {
    std::string_view shard;
    if (value.get(shard) || shard.empty() || shard.find('/') != std::string_view::npos)
      fail("{}: puts tensor '{}' into {}, expected the name of a file next to it; save it again",
           path, name, simdjson::minify(value));
    files[std::string(shard)].emplace_back(name);
  }
  return files;
}

void copy_numbers(DType type, const std::byte* from, std::span<float> out) {
  if (type == DType::f32) {
    std::memcpy(out.data(), from, out.size_bytes());
    return;
  }
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<float>(number_at(type, from + k * size_of(type)));
}

}  // namespace

Checkpoint Checkpoint::open(const std::string& folder) {
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  const fs::path whole = fs::path(folder) / "model.safetensors";
  const fs::path index = fs::path(folder) / "model.safetensors.index.json";
  std::error_code missing;
  if (fs::exists(whole, missing)) {
    checkpoint.take(read_safetensors(whole.string()), nullptr);
    return checkpoint;
  }
  if (!fs::exists(index, missing))
    fail(
        "{}: has neither model.safetensors nor model.safetensors.index.json, expected the weights; "
        "save the model with save_pretrained of transformers",
        folder);
  for (const auto& [shard, names] : read_index(index.string()))
    checkpoint.take(read_safetensors((fs::path(folder) / shard).string()), &names);
  return checkpoint;
}

void Checkpoint::take(Arrays file, const std::vector<std::string>* wanted) {
  files_.push_back(std::move(file));
  const Arrays& kept = files_.back();
  std::set<std::string_view> present;
  for (const Tensor& tensor : kept.layers) {
    present.insert(tensor.name);
    // Moving Arrays moves its files, not the tensors in them: the pointers stay valid.
    if (!tensors_.emplace(tensor.name, &tensor).second)
      fail("{}: tensor '{}' is in two files, expected it in one; save the model again", kept.name,
           tensor.name);
  }
  if (!wanted) return;
  for (const std::string& name : *wanted)
    if (!present.contains(name))
      fail("{}: has no tensor '{}', expected it according to the index; save the model again",
           kept.name, name);
}

// Checkpoints once converted from TensorFlow use gamma and beta.
const Tensor* Checkpoint::find(const std::string& name) const {
  if (const auto found = tensors_.find(name); found != tensors_.end()) return found->second;
  const auto ends = [&](std::string_view old, std::string_view other) -> const Tensor* {
    if (!name.ends_with(old)) return nullptr;
    const auto found = tensors_.find(name.substr(0, name.size() - old.size()) + std::string(other));
    return found == tensors_.end() ? nullptr : found->second;
  };
  if (const Tensor* gamma = ends("LayerNorm.weight", "LayerNorm.gamma")) return gamma;
  return ends("LayerNorm.bias", "LayerNorm.beta");
}

const Tensor& Checkpoint::at(const std::string& name, const std::vector<int64_t>& shape) const {
  const Tensor* tensor = find(name);
  if (!tensor) {
    std::vector<std::string_view> names;
    for (const auto& [known, entry] : tensors_) names.push_back(known);
    const std::string_view close = nearest(name, names);
    fail("{}: has no tensor '{}', expected one of shape {}{}", folder_, name, shape_text(shape),
         close.empty() ? std::string("; check that weights and config.json belong together")
                       : fmt::format("; the nearest name is '{}'", close));
  }
  if (tensor->shape != shape)
    fail("{}: tensor '{}' is {}, expected {} as in config.json; check that they belong together",
         folder_, name, shape_text(tensor->shape), shape_text(shape));
  if (!is_weight(tensor->type))
    fail("{}: tensor '{}' is {}, expected f32, f16 or bf16; convert the model", folder_, name,
         name_of(tensor->type));
  used_.insert(tensor);
  return *tensor;
}

kernel::Weights Checkpoint::matrix(const std::string& name, int outputs, int inputs,
                                   bool input_major) const {
  const Tensor& tensor = input_major ? at(name, {inputs, outputs}) : at(name, {outputs, inputs});
  return {tensor.type, tensor.bytes.data(), outputs, inputs, input_major};
}

kernel::Weights Checkpoint::flattened(const std::string& name,
                                      const std::vector<int64_t>& shape) const {
  const Tensor& tensor = at(name, shape);
  const size_t count = tensor.bytes.size() / size_of(tensor.type);
  const int outputs = static_cast<int>(shape.front());
  return {tensor.type, tensor.bytes.data(), outputs, static_cast<int>(count) / outputs, false};
}

Vector Checkpoint::vector(const std::string& name, const std::vector<int64_t>& shape) const {
  const Tensor& tensor = at(name, shape);
  Vector numbers(tensor.bytes.size() / size_of(tensor.type));
  copy_numbers(tensor.type, tensor.bytes.data(), numbers);
  return numbers;
}

const std::vector<int64_t>& Checkpoint::shape(const std::string& name) const {
  const Tensor* tensor = find(name);
  if (!tensor) at(name, {});
  return tensor->shape;
}

std::vector<std::string> Checkpoint::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_)
    if (!used_.contains(tensor)) names.push_back(name);
  return names;
}

uint64_t Checkpoint::parameters() const {
  uint64_t count = 0;
  for (const auto& [name, tensor] : tensors_)
    if (is_float(tensor->type)) count += tensor->bytes.size() / size_of(tensor->type);
  return count;
}

std::string Checkpoint::types() const {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors_)
    if (is_float(tensor->type)) names.insert(name_of(tensor->type));
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

void copy_row(const kernel::Weights& weights, int row, std::span<float> out) {
  const size_t bytes = static_cast<size_t>(weights.inputs) * size_of(weights.type);
  copy_numbers(weights.type, weights.data + static_cast<size_t>(row) * bytes, out);
}

}  // namespace headwater
