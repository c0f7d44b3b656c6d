// What tokenizer_config.json, special_tokens_map.json and added_tokens.json say, and config.json of
// the tokenizer's class.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headwater {

/// A token that is found in a text before anything else splits it.
struct AddedToken {
  std::string content;
  bool single_word = false, lstrip = false, rstrip = false, normalised = false, special = true;
  bool bare = false;     // given as a text alone, without these options
  bool assumed = false;  // no file has it: the class adds it
};

struct TokenizerSettings {
  std::string kind;                         // "Bert" of the class BertTokenizerFast; "": not named
  std::map<std::string, AddedToken> named;  // "cls_token" and so on, as the files give them
  std::vector<AddedToken> added;            // those with an id, in its order
  std::vector<AddedToken> others;           // special ones with other names, as "image_token"
  std::vector<AddedToken> extra;            // more special ones
  bool lists_extra = false;                 // tokenizer_config.json has these, if only as []
  bool lists_added = false;                 // tokenizer_config.json has "added_tokens_decoder"
  std::string language;                     // "src_lang" of tokenizer_config.json; "": not named
  std::map<std::string, bool> flags;        // do_lower_case and so on
  std::set<std::string> nulls;              // entries of tokenizer_config.json that are null

  int extra_ids = 100;  // of T5

  bool flag_or(const std::string& name, bool otherwise) const;
  /// In the order in which transformers adds them: those with an id, the named ones, the others,
  /// the extra ones. If several have the same content, the last one counts, unless it is one with
  /// an id.
  std::vector<AddedToken> tokens() const;
};

/// Files that are missing say nothing. Throws Error if one is not a JSON object, or if a token in
/// it is not a token.
TokenizerSettings read_tokenizer_settings(const std::string& folder);

}  // namespace headwater
