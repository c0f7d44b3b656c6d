// Which files of a model folder hold its weights.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace headwater {

struct WeightFile {
  std::string path;                // .safetensors or .bin
  std::vector<std::string> names;  // the tensors that an index puts into it; empty: all it has
};

struct WeightFiles {
  std::vector<WeightFile> files;
  std::vector<std::string> notes;  // what was chosen, if there was a choice
};

/// model.safetensors or pytorch_model.bin, whole or in shards with an index, then variants of them
/// such as model.fp16.safetensors. Throws Error if there are none, which says what is there
/// instead (GGUF, ONNX, TensorFlow, an adapter) and what to do about it.
WeightFiles find_weights(const std::string& folder);

/// What the folder holds instead of a model that headwater reads, and what to do about it:
/// "model.gguf holds weights for ...". None if nothing in it is known.
std::optional<std::string> what_else(const std::string& folder);

}  // namespace headwater
