#include "headwater/core/fail.h"

#include "headwater/core/utf8.h"

namespace headwater {
namespace {

constexpr size_t longest = 4000;

// Cuts the middle: what was expected and what to do are at the end.
std::string shortened(const std::string& sentence) {
  if (sentence.size() <= longest) return sentence;
  return sentence.substr(0, longest / 2) + " ... " + sentence.substr(sentence.size() - longest / 2);
}

}  // namespace

std::string one_line(const std::string& sentence) {
  std::string line;
  for (char c : valid_utf8(shortened(sentence))) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string{c};
  }
  return line;
}

}  // namespace headwater
