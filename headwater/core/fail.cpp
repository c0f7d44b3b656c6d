#include "headwater/core/fail.h"

#include <string_view>

namespace headwater {
namespace {

constexpr size_t longest = 4000;

// The bytes of the character at the start of `text`; 0 if they are not UTF-8.
size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t size = lead < 0x80                   ? 1
                      : lead >= 0xc2 && lead < 0xe0 ? 2
                      : lead >= 0xe0 && lead < 0xf0 ? 3
                      : lead >= 0xf0 && lead < 0xf5 ? 4
                                                    : 0;
  if (size > text.size()) return 0;
  for (size_t k = 1; k < size; ++k)
    if ((static_cast<unsigned char>(text[k]) & 0xc0) != 0x80) return 0;
  const auto second = size > 2 ? static_cast<unsigned char>(text[1]) : 0;
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : size;
}

}  // namespace

std::string one_line(const std::string& sentence) {
  std::string line;
  for (size_t at = 0; at < sentence.size();) {
    // What was expected and what to do stand at the end.
    if (line.size() >= longest / 2 && sentence.size() - at > longest / 2) {
      line += " ... ";
      at = sentence.size() - longest / 2;
      while ((static_cast<unsigned char>(sentence[at]) & 0xc0) == 0x80) ++at;
    }
    const size_t size = character_size(std::string_view(sentence).substr(at));
    const auto c = static_cast<unsigned char>(sentence[at]);
    if (size == 0 || c < 0x20 || c == 0x7f)
      line += fmt::format("\\x{:02x}", c);
    else
      line.append(sentence, at, size);
    at += size == 0 ? 1 : size;
  }
  return line;
}

}  // namespace headwater
