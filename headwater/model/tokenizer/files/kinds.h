// The tokenizers of transformers whose files are read without a tokenizer.json.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/files/settings.h"

namespace headwater {

/// How a class of transformers uses its files.
struct TokenizerKind {
  std::string_view name;  // of the class, without "Tokenizer"
  enum class Files { words, merges, sentencepiece } files;
  std::string_view bos, eos, unk, sep, pad, cls, mask;  // "": none
};

/// Null for an unknown name.
const TokenizerKind* find_kind(std::string_view name);
std::vector<std::string_view> kind_names();

/// The name of the kind that the files name, or else the one that the model family uses, or "".
std::string kind_of(const TokenizerSettings& settings, const std::string& family);

}  // namespace headwater
