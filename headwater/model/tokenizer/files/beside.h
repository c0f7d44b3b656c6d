// Settings from the other files of a folder, beside its tokenizer.json.
#pragma once
#include <simdjson.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/model/tokenizer/files/rules.h"
#include "headwater/model/tokenizer/normalizer.h"

namespace headwater {

/// transformers takes these from the other files, whatever tokenizer.json says.
struct BesideTokenizer {
  std::vector<AddedToken> tokens;               // those that tokenizer.json need not have
  BertFlags flags;                              // of classes that split words as BERT does
  std::optional<bool> add_prefix_space;         // of those with GPT-2's alphabet
  bool split_special = false;                   // special tokens in a text are plain text
  std::shared_ptr<const TokenizerRules> rules;  // of a class that makes parts anew; may be null

  /// Parts of a tokenizer.json as the class makes them, whatever `file` says; "": it has its own.
  std::string normalizer(const simdjson::dom::element& file) const;
  std::string pre_tokenizer(const simdjson::dom::element& file) const;
  /// `id` gives the number of a token, or none; without one the file's own stays.
  std::string post_processor(
      const simdjson::dom::element& file,
      const std::function<std::optional<int>(const std::string& token)>& id) const;
};

/// `family` is the model_type of config.json. Throws Error for damaged files.
BesideTokenizer read_beside(const std::string& folder, const std::string& family);

}  // namespace headwater
