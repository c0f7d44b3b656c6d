// Settings from the other files of a folder, beside its tokenizer.json.
#pragma once
#include <simdjson.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/model/tokenizer/files/rules.h"

namespace headwater {

/// transformers takes these from the other files, whatever tokenizer.json says.
struct BesideTokenizer {
  std::vector<AddedToken> tokens;  // those that tokenizer.json need not have
  bool lists_added = false;        // and no others count
  bool split_special = false;      // special tokens in a text are plain text
  /// Of a class that makes parts anew from the words of tokenizer.json; null: all is the file's.
  std::shared_ptr<const TokenizerRules> rules;
  std::vector<std::string> notes;  // sentences for results

  /// Parts of a tokenizer.json as the class makes them, whatever `file` says; "": it has its own.
  std::string part(const char* key, const simdjson::dom::element& file) const;
  /// The same for "post_processor". `id` gives the number of a token, or none; without one the
  /// file's own stays.
  std::string post_processor(
      const std::function<std::optional<int>(const std::string& token)>& id) const;
  /// The token for unknown words; none: the file's own.
  std::optional<std::string> unknown(const simdjson::dom::element& file) const;
};

/// `family` is the model_type of config.json, `file` the tokenizer.json. Throws Error for damaged
/// files, and for a class whose rules headwater does not know.
BesideTokenizer read_beside(const std::string& folder, const std::string& family,
                            const simdjson::dom::element& file);

}  // namespace headwater
