// Turns a piece of text that no token crosses into tokens.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/json_part.h"

namespace headwater {

/// A token, and its bytes in the piece.
struct PieceToken {
  int id;
  std::string text;
  size_t begin, end;
};

class WordModel {
 public:
  virtual ~WordModel() = default;

  /// The tokens of one piece, which must be valid UTF-8 and not empty. Thread-safe. Throws Error if
  /// the piece has unknown text and there is no token for that.
  virtual std::vector<PieceToken> tokenise(std::string_view piece) const = 0;

  virtual std::optional<int> id_of(std::string_view token) const = 0;
  virtual std::optional<std::string_view> token_of(int id) const = 0;
  virtual int size() const = 0;
};

/// The token for unknown text, in place of the one that the file names.
using Unknown = std::optional<std::string>;

/// "model" of a tokenizer.json; `file` is its whole text. Throws Error.
std::unique_ptr<WordModel> read_word_model(JsonPart part, const simdjson::padded_string& file,
                                           const Unknown& unknown = {});

std::unique_ptr<WordModel> read_word_piece(JsonPart& part, const Unknown& unknown);
std::unique_ptr<WordModel> read_word_level(JsonPart& part);
std::unique_ptr<WordModel> read_bpe(JsonPart& part, const Unknown& unknown);
/// Without such a token, the first one is that for unknown text.
std::unique_ptr<WordModel> read_unigram(JsonPart& part, const simdjson::padded_string& file,
                                        const Unknown& unknown);

class Vocabulary;

/// {"token": id, ...}. Throws Error.
Vocabulary read_vocabulary(JsonPart& part);

/// The ids of "<0x00>" to "<0xFF>", -1 if there is none.
std::vector<int> byte_tokens(const Vocabulary& vocabulary);

/// "<0x0A>"
std::string byte_token(unsigned char byte);

}  // namespace headwater
