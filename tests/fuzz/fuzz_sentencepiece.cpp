// A SentencePiece model: any bytes are pieces that lie in them, or one sentence.
#include <cstdlib>
#include <string>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/files/sentencepiece.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  try {
    volatile size_t sum = 0;
    const auto model =
        headwater::read_sentencepiece({reinterpret_cast<const std::byte*>(data), size}, "x.model");
    for (const headwater::SentencePiece& piece : model.pieces)
      for (const char c : piece.text) sum = sum + static_cast<unsigned char>(c);
  } catch (const headwater::Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
