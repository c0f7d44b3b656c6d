// A SentencePiece model: any bytes are pieces that lie in them, or one sentence; small models then
// take a text apart and join it again.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/files/sentencepiece.h"
#include "headwater/model/tokenizer/tokenizer.h"
#include "tests/fuzz/structure/protobuf.h"

namespace {

void encode(const uint8_t* data, size_t size) {
  static const std::string folder = [] {
    std::string place = (std::filesystem::temp_directory_path() / "headwater-fuzz-XXXXXX").string();
    if (mkdtemp(place.data()) == nullptr) std::abort();
    return place;
  }();
  std::ofstream(folder + "/spiece.model", std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  static constexpr const char* families[] = {"albert", "t5", "llama", "camembert"};
  const auto tokenizer = headwater::Tokenizer::open_folder(folder, families[size % 4]);
  if (!tokenizer) return;
  const auto encoding =
      tokenizer->encode(" The caf\xC3\xA9 12,345 <s> aab  \t\xE2\x96\x81z", "a b", true, 64);
  for (const auto& [begin, end] : encoding.offsets)
    if (begin > end) std::abort();
  tokenizer->decode(encoding.ids, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    volatile size_t sum = 0;
    const auto model =
        headwater::read_sentencepiece({reinterpret_cast<const std::byte*>(data), size}, "x.model");
    for (const headwater::SentencePiece& piece : model.pieces)
      for (const char c : piece.text) sum = sum + static_cast<unsigned char>(c);
    if (model.pieces.size() < 1000) encode(data, size);
  } catch (const headwater::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::changed_protobuf);
}
