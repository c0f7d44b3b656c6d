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
/// For some families it counts whatever the files say.
std::string kind_of(const TokenizerSettings& settings, const std::string& family);

/// Whether transformers takes a tokenizer.json as it is: for some families, or if its class is not
/// named, or is one that only reads the file. `bytes`: the file spells in GPT-2's alphabet.
bool is_as_saved(const TokenizerSettings& settings, const std::string& family, bool bytes);

/// Whether the class makes parts of a tokenizer.json anew, or reads other files, in a way that
/// headwater does not know.
bool is_made_otherwise(std::string_view name);

}  // namespace headwater
