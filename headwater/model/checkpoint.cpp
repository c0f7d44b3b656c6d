#include "headwater/model/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/weight_files.h"
#include "headwater/source/safetensors.h"
#include "headwater/source/torch_file.h"

namespace headwater {
namespace {

bool is_weight(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
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
  WeightFiles weights = find_weights(folder);
  checkpoint.notes_ = std::move(weights.notes);
  for (const WeightFile& file : weights.files)
    checkpoint.take(
        file.path.ends_with(".bin") ? read_torch(file.path) : read_safetensors(file.path),
        file.names);
  return checkpoint;
}

void Checkpoint::take(Arrays file, const std::vector<std::string>& wanted) {
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
  for (const std::string& name : wanted)
    if (!present.contains(name))
      fail("{}: has no tensor '{}', expected it according to the index; save the model again",
           kept.name, name);
}

const Tensor* Checkpoint::find(const std::string& name) const {
  const auto exact = [&](const std::string& wanted) -> const Tensor* {
    const auto found = tensors_.find(wanted);
    return found == tensors_.end() ? nullptr : found->second;
  };
  // Checkpoints once converted from TensorFlow use gamma and beta.
  const auto ends = [&](std::string_view old, std::string_view other) -> const Tensor* {
    if (!name.ends_with(old)) return nullptr;
    return exact(outer_ + name.substr(0, name.size() - old.size()) + std::string(other));
  };
  if (const Tensor* found = exact(outer_ + name)) return found;
  // GPT-NeoX has had both names for its words.
  if (name == "embed_out.weight") return exact(outer_ + "lm_head.weight");
  // Encoder and decoder mostly share theirs, under either name.
  if (const Tensor* own = ends("shared.weight", "encoder.embed_tokens.weight")) return own;
  for (const char* own : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (const Tensor* shared = ends(own, "shared.weight")) return shared;
  if (const Tensor* gamma = ends("LayerNorm.weight", "LayerNorm.gamma")) return gamma;
  return ends("LayerNorm.bias", "LayerNorm.beta");
}

void Checkpoint::unwrap(const std::vector<std::string>& names) {
  for (const char* outer :
       {"", "module.", "model.", "auto_model.", "_orig_mod.", "0.auto_model."}) {
    outer_ = outer;
    if (std::ranges::any_of(names, [&](const std::string& name) { return has(name); })) return;
  }
  outer_.clear();
}

// The tensors that a quantised model has in place of a weight.
void Checkpoint::refuse_quantised(const std::string& name) const {
  const std::string stem = outer_ + name.substr(0, name.rfind('.') + 1);
  struct Sign {
    const char* name;
    const char* method;
  };
  for (const Sign& sign : {Sign{"qweight", "GPTQ or AWQ"},
                           {"SCB", "bitsandbytes, 8 bits"},
                           {"weight.absmax", "bitsandbytes, 4 bits"}})
    if (tensors_.contains(stem + sign.name))
      fail(
          "{}: has a tensor '{}{}' of quantised weights ({}), expected f32, f16 or bf16; use the "
          "model that it was made from, or load it with transformers, call model.dequantize() and "
          "save_pretrained",
          folder_, stem, sign.name, sign.method);
}

const Tensor& Checkpoint::at(const std::string& name, const std::vector<int64_t>& shape) const {
  const Tensor* tensor = find(name);
  if (!tensor || tensor->shape != shape || !is_weight(tensor->type)) refuse_quantised(name);
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
