#include "headwater/model/tokenizer/files/sentencepiece.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/characters.h"

namespace headwater {
namespace {

// The fields of a protocol buffer message, one after another.
class Message {
 public:
  Message(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  int field = 0;
  uint64_t number = 0;    // of a varint
  float real = 0;         // of four bytes
  std::string_view text;  // of bytes or a message

  bool next() {
    if (rest_.empty()) return false;
    const uint64_t key = varint();
    field = static_cast<int>(std::min<uint64_t>(key >> 3, 1u << 30));
    switch (key & 7) {
      case 0:
        number = varint();
        return true;
      case 1:
        take(8);
        return true;
      case 2:
        text = take(varint());
        return true;
      case 5:
        std::memcpy(&real, take(4).data(), 4);
        return true;
      default:
        damaged();
    }
  }

 private:
  [[noreturn]] void damaged() const {
    fail("{}: is damaged, expected a SentencePiece model; copy it again", file_);
  }
  std::string_view take(uint64_t count) {
    if (count > rest_.size()) damaged();
    const std::string_view piece = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return piece;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }

  std::string_view rest_;
  const std::string& file_;
};

SentencePiece read_piece(std::string_view bytes, size_t id, const std::string& file) {
  SentencePiece piece;
  for (Message message(bytes, file); message.next();) {
    if (message.field == 1) piece.text = message.text;
    if (message.field == 2) piece.score = message.real;
    if (message.field == 3 && message.number >= 1 && message.number <= 6)
      piece.type = static_cast<SentencePiece::Type>(message.number);
  }
  check_utf8(piece.text, fmt::format("{}: piece {}", file, id));
  if (!std::isfinite(piece.score))
    fail("{}: piece {} has no score, expected a number; copy the file again", file, id);
  return piece;
}

void read_trainer(std::string_view bytes, const std::string& file, SentencePieceModel& model) {
  for (Message message(bytes, file); message.next();) {
    if (message.field == 3) {
      if (message.number != 1 && message.number != 2)
        fail("{}: splits texts into {}, expected a unigram or BPE model; give `ids`", file,
             message.number == 3 ? "words" : "characters");
      model.kind = static_cast<SentencePieceModel::Kind>(message.number);
    }
    if (message.field == 40)
      model.unknown = message.number < 1u << 30 ? static_cast<int>(message.number) : -1;
  }
}

}  // namespace

SentencePieceModel read_sentencepiece(std::span<const std::byte> bytes, const std::string& file) {
  SentencePieceModel model;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (Message message(all, file); message.next();) {
    if (message.field == 1)
      model.pieces.push_back(read_piece(message.text, model.pieces.size(), file));
    if (message.field == 2) read_trainer(message.text, file, model);
    if (message.field == 3)
      for (Message inside(message.text, file); inside.next();)
        if (inside.field == 2) model.charsmap = inside.text;
  }
  if (model.pieces.empty() || model.unknown < 0 ||
      static_cast<size_t>(model.unknown) >= model.pieces.size())
    fail(
        "{}: has {} pieces, expected those of a SentencePiece model, with an unknown one; copy it "
        "again",
        file, model.pieces.size());
  return model;
}

}  // namespace headwater
