// "added_tokens" of a tokenizer.json: texts that are always one token.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "headwater/model/tokenizer/files/settings.h"
#include "headwater/model/tokenizer/normalizer.h"
#include "headwater/model/tokenizer/prefix_index.h"
#include "headwater/model/tokenizer/splits.h"
#include "headwater/model/tokenizer/vocabulary.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Assigns ids as the package does: the model's if it knows the token, else the next after all of
  /// the model's. Ignores the ids in the file. Those of `more` that the list does not have come
  /// last. Throws Error.
  AddedTokens(const std::optional<simdjson::dom::array>& list, const std::vector<AddedToken>& more,
              const WordModel& model, const Normalizer* normalizer, const std::string& what);

  /// From now on, special tokens in a text are not tokens but text.
  void split_special() { split_special_ = true; }
  /// Splits the text: first at tokens that match the raw text, then, after normalising the rest, at
  /// tokens that match normalised text.
  Splits split(std::string_view text, const Normalizer* normalizer) const;

  std::optional<int> id_of(std::string_view content) const { return contents_.id_of(content); }
  /// The token as it appears in text; normalised if it is matched there.
  std::optional<std::string_view> token_of(int id) const;
  bool is_special(std::string_view token) const { return special_.id_of(token).has_value(); }
  size_t size() const { return contents_.size(); }
  /// How many are not in the model's vocabulary.
  int beyond(const WordModel& model) const;

 private:
  struct Token {
    std::string content, normalised;
    bool single_word, left, right, in_normalised, special;
    int id;
    bool operator==(const Token&) const = default;
  };
  void add(Token token, const WordModel& model, int& next);
  void make_indexes();
  void split_at(const AlignedText& text, const PrefixIndex& index, Splits& out) const;

  std::vector<Token> tokens_;
  Vocabulary contents_, special_;
  std::unordered_map<int, size_t> by_id_;
  PrefixIndex raw_, normalised_;  // values are indices into tokens_
  bool split_special_ = false;
};

}  // namespace headwater
