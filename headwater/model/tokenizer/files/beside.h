// Settings from the other files of a folder, beside its tokenizer.json.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/model/tokenizer/files/settings.h"
#include "headwater/model/tokenizer/normalizer.h"

namespace headwater {

/// transformers takes these from the other files, whatever tokenizer.json says.
struct BesideTokenizer {
  std::vector<AddedToken> tokens;        // those that tokenizer.json need not have
  BertFlags flags;                       // of classes that split words as BERT does
  std::optional<bool> add_prefix_space;  // of those with GPT-2's alphabet
  bool split_special = false;            // special tokens in a text are plain text
};

/// `family` is the model_type of config.json. Throws Error for damaged files.
BesideTokenizer read_beside(const std::string& folder, const std::string& family);

}  // namespace headwater
