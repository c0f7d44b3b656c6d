// WordPiece: repeatedly takes the longest token at the start of the rest of the word. WordLevel: a
// word is one token.
#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/prefix_index.h"
#include "headwater/model/tokenizer/vocabulary.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {
namespace {

class VocabularyModel : public WordModel {
 public:
  explicit VocabularyModel(JsonPart& part, const Unknown& unknown = {})
      : what_(part.what()),
        vocabulary_(read_vocabulary(part)),
        unknown_(unknown ? *unknown : part.text("unk_token")) {
    part.pass_over("unk_token");
  }

  std::optional<int> id_of(std::string_view token) const override {
    return vocabulary_.id_of(token);
  }
  std::optional<std::string_view> token_of(int id) const override {
    return vocabulary_.token_of(id);
  }
  int size() const override { return static_cast<int>(vocabulary_.size()); }

 protected:
  std::vector<PieceToken> unknown(std::string_view piece) const {
    const auto id = vocabulary_.id_of(unknown_);
    if (!id)
      fail(
          "{}: has no token for '{}', and \"unk_token\" '{}' is not in its vocabulary, expected it "
          "there; check the file",
          what_, piece, unknown_);
    return {{*id, unknown_, 0, piece.size()}};
  }

  std::string what_;
  Vocabulary vocabulary_;
  std::string unknown_;
};

class WordLevel : public VocabularyModel {
 public:
  using VocabularyModel::VocabularyModel;

  std::vector<PieceToken> tokenise(std::string_view piece) const override {
    const auto id = vocabulary_.id_of(piece);
    if (!id) return unknown(piece);
    return {{*id, std::string(piece), 0, piece.size()}};
  }
};

class WordPiece : public VocabularyModel {
 public:
  WordPiece(JsonPart& part, const Unknown& unknown)
      : VocabularyModel(part, unknown),
        prefix_(part.text("continuing_subword_prefix")),
        most_characters_(part.count("max_input_chars_per_word")) {
    std::vector<std::pair<std::string_view, uint32_t>> all, inside;
    for (size_t entry = 0; entry < vocabulary_.size(); ++entry) {
      const auto [token, id] = vocabulary_.entry(entry);
      all.emplace_back(token, id);
      if (token.starts_with(prefix_)) inside.emplace_back(token.substr(prefix_.size()), id);
    }
    first_ = PrefixIndex(std::move(all));
    inside_ = PrefixIndex(std::move(inside));
  }

  std::vector<PieceToken> tokenise(std::string_view piece) const override {
    uint64_t characters = 0;
    for (size_t at = 0; at < piece.size(); at += static_cast<size_t>(length_of(piece[at])))
      ++characters;
    if (characters > most_characters_) return unknown(piece);
    std::vector<PieceToken> out;
    for (size_t begin = 0; begin < piece.size(); begin = out.back().end) {
      size_t length = 0;
      int id = -1;
      (begin == 0 ? first_ : inside_).walk(piece, begin, [&](size_t longer, uint32_t of) {
        length = longer;
        id = static_cast<int>(of);
      });
      if (length == 0) return unknown(piece);
      std::string token(begin > 0 ? prefix_ : "");
      token += piece.substr(begin, length);
      out.push_back({id, std::move(token), begin, begin + length});
    }
    return out;
  }

 private:
  std::string prefix_;
  PrefixIndex first_, inside_;  // tokens, and those that continue a word without their prefix
  uint64_t most_characters_;
};

}  // namespace

std::unique_ptr<WordModel> read_word_piece(JsonPart& part, const Unknown& unknown) {
  return std::make_unique<WordPiece>(part, unknown);
}

std::unique_ptr<WordModel> read_word_level(JsonPart& part) {
  return std::make_unique<WordLevel>(part);
}

}  // namespace headwater
