// A SentencePiece model (.model): a protocol buffer with pieces and their scores.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwater {

struct SentencePiece {
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  std::string_view text;  // in the file
  float score = 0;
  Type type = Type::normal;
};

struct SentencePieceModel {
  enum class Kind { unigram = 1, bpe = 2 };
  Kind kind = Kind::unigram;
  int unknown = 0;  // the id of the piece for what is not known
  std::vector<SentencePiece> pieces;
  std::string_view charsmap;  // how texts are normalised; "": not at all
};

/// `bytes` must outlive the model. Throws Error naming `file` if they are damaged, if a piece is
/// not UTF-8, or if the model is of words or characters.
SentencePieceModel read_sentencepiece(std::span<const std::byte> bytes, const std::string& file);

}  // namespace headwater
