// Byte pair encoding: characters, merged pair by pair in the learned order.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/merge_table.h"
#include "headwater/model/tokenizer/vocabulary.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {

class Bpe : public WordModel {
 public:
  Bpe(JsonPart& part, const Unknown& unknown);

  /// Each merge takes time logarithmic in the length of the piece.
  std::vector<PieceToken> tokenise(std::string_view piece) const override;
  std::optional<int> id_of(std::string_view token) const override {
    return vocabulary_.id_of(token);
  }
  std::optional<std::string_view> token_of(int id) const override {
    return vocabulary_.token_of(id);
  }
  int size() const override { return static_cast<int>(vocabulary_.size()); }

 private:
  /// A token of a word that is being merged, in a list by index. Length 0: merged into another.
  struct Symbol {
    int id, previous, next;
    size_t length;  // in bytes
  };
  /// Two tokens of "merges" that form one.
  struct Pair {
    std::string_view left, right;
  };
  void read_merges(const simdjson::dom::array& merges);
  Pair read_pair(const simdjson::dom::element& entry) const;
  void add_merges(std::span<const Pair> pairs, uint32_t first_rank);
  std::vector<Symbol> characters_of(std::string_view piece) const;
  int character_id(std::string_view character, bool first, bool last) const;
  bool add_bytes(std::vector<Symbol>& word, std::string_view character, bool first,
                 bool last) const;
  void merge(std::vector<Symbol>& word) const;
  std::string decorated(std::string_view character, bool first, bool last) const;

  std::string what_;
  Vocabulary vocabulary_;
  MergeTable merges_;
  std::string prefix_, suffix_;  // of characters that do not start a word, that end one
  bool has_unknown_, fuse_unknown_, byte_fallback_, ignore_merges_;
  std::string unknown_;
  std::vector<int> byte_ids_;
  std::array<int, 512> low_ids_;  // of the first characters of Unicode; -1: none
};

}  // namespace headwater
