// Bytes as a tokenizer.json, then a short text to tokens and back.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "headwater/core/error.h"
#include "headwater/model/tokenizer/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // ASCII, accents, a conjunct, a pictograph, controls, spaces of several kinds and special tokens.
  static constexpr std::string_view text =
      " The caf\xC3\xA9's e\xCC\x81 12,345 <s> aab  \t\n\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7 "
      "\xE2\x96\x81\xF0\x9F\x91\x8D\xE2\x80\x8D [CLS]ab\xE3\x80\x80\x01z";
  try {
    const auto tokenizer =
        headwater::Tokenizer::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const bool special : {true, false}) {
      const auto encoding = tokenizer.encode(text, "ab <s> a", special, size % 40 + 8);
      for (size_t i = 0; i < encoding.size(); ++i) {
        if (encoding.offsets[i].begin > encoding.offsets[i].end) std::abort();
      }
      tokenizer.decode(encoding.ids, special);
    }
    tokenizer.size();
  } catch (const headwater::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
