#include "headwater/model/tokenizer/byte_alphabet.h"

#include "headwater/model/tokenizer/characters.h"

namespace headwater {

const std::array<char32_t, 256>& byte_alphabet() {
  static const std::array<char32_t, 256> alphabet = [] {
    std::array<char32_t, 256> out{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      out[byte] = printable ? byte : next++;
    }
    return out;
  }();
  return alphabet;
}

int byte_of(char32_t character) {
  static const std::array<int, 512> bytes = [] {
    std::array<int, 512> out;
    out.fill(-1);
    for (int byte = 0; byte < 256; ++byte) out[byte_alphabet()[static_cast<size_t>(byte)]] = byte;
    return out;
  }();
  return character < bytes.size() ? bytes[character] : -1;
}

void spell_bytes(AlignedText& text) {
  std::vector<Change> changes;
  changes.reserve(text.text().size());
  for (const char c : text.text()) {
    const auto byte = static_cast<unsigned char>(c);
    changes.push_back({byte_alphabet()[byte], (byte & 0xC0) == 0x80 ? 1 : 0});
  }
  text.transform(changes);
}

}  // namespace headwater
