#include "headwater/model/tokenizer/word_model.h"

#include <fmt/format.h>

#include "headwater/core/fail.h"
#include "headwater/model/tokenizer/vocabulary.h"

namespace headwater {
namespace {

// Files of early versions have no type. The options reveal it, checked in the order of the package.
std::string type_of(JsonPart& part) {
  if (part.has("type")) return part.text("type");
  part.pass_over("type");
  if (part.has("merges")) return "BPE";
  if (part.has("max_input_chars_per_word")) return "WordPiece";
  return part.has("unk_token") ? "WordLevel" : "Unigram";
}

}  // namespace

std::unique_ptr<WordModel> read_word_model(JsonPart part, const simdjson::padded_string& file,
                                           const Unknown& unknown) {
  const std::string type = type_of(part);
  std::unique_ptr<WordModel> model;
  if (type == "WordPiece")
    model = read_word_piece(part, unknown);
  else if (type == "BPE")
    model = read_bpe(part, unknown);
  else if (type == "Unigram")
    model = read_unigram(part, file, unknown);
  else if (type == "WordLevel")
    model = read_word_level(part);
  else
    part.unknown(type, "WordPiece, BPE, Unigram or WordLevel");
  part.finish();
  return model;
}

Vocabulary read_vocabulary(JsonPart& part) {
  const auto list = part.object("vocab");
  const std::string what = part.what() + ": \"vocab\"";
  Vocabulary vocabulary;
  vocabulary.reserve(list.size(), 8 * list.size());
  for (const auto& [token, id] : list) vocabulary.add(token, read_id(id, what));
  vocabulary.finish();
  return vocabulary;
}

std::string byte_token(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

std::vector<int> byte_tokens(const Vocabulary& vocabulary) {
  std::vector<int> ids;
  for (int byte = 0; byte < 256; ++byte)
    ids.push_back(vocabulary.id_of(byte_token(static_cast<unsigned char>(byte))).value_or(-1));
  return ids;
}

}  // namespace headwater
