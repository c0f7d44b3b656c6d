// What a file format provides.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/mapped_file.h"
#include "headwater/source/tensor.h"

namespace headwater {

/// Tokens as in the file: one list for all items, or one for each.
struct Tokens {
  std::vector<std::string> words;
  int lists = 1;  // words.size() / lists tokens each
};

/// The attention arrays of a file.
struct Arrays {
  std::string format;          // "npy", "npz", "safetensors", "torch", "json", "memory"
  std::string name;            // of the file
  std::vector<Tensor> layers;  // one for each layer in order, or a single one with all layers
  std::optional<Tensor> mask;  // attention_mask: nonzero = real
  std::optional<Tokens> tokens;
  std::unique_ptr<MappedFile> file;            // keeps the bytes alive, with
  std::vector<std::vector<std::byte>> copies;  // those that could not be used where they are
};

}  // namespace headwater
