// What a file format hands over, and how it is to be read.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/mapped_file.h"
#include "headwater/source/tensor.h"

namespace headwater {

/// Tokens as a file has them: one list for all items, or one for each.
struct Tokens {
  std::vector<std::string> words;
  int lists = 1;  // words.size() / lists tokens each
};

/// The attention arrays of a file.
struct Arrays {
  std::string format;          // "npy", "npz", "safetensors", "json", "memory"
  std::string name;            // of the file
  std::vector<Tensor> layers;  // one a layer in order, or a single one with all
  std::optional<Tensor> mask;  // attention_mask: not 0 = real
  std::optional<Tokens> tokens;
  std::unique_ptr<MappedFile> file;  // keeps the bytes alive
};

/// How a source is to be read. The defaults take what the formats say.
struct ReadOptions {
  std::string axes = {};  // letters L B H n n in the order of the arrays' axes; "": by their number
  std::vector<std::string> tokens = {};  // in place of the file's, if not empty
  bool any_sums = false;                 // take rows that do not sum to 1
  bool nan_identity = false;             // a head's bad row becomes the identity's
};

}  // namespace headwater
