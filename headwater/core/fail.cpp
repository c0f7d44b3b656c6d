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
  for (const char32_t c : code_points(shortened(sentence)))
    if (!is_unprintable(c))
      line += to_utf8({&c, 1});
    else
      line +=
          c < 0x100 ? fmt::format("\\x{:02x}", uint32_t{c}) : fmt::format("\\u{:04x}", uint32_t{c});
  return line;
}

}  // namespace headwater
