#include "headwater/output/picture/reading_side.h"

#include <algorithm>

#include "headwater/core/utf8.h"

namespace headwater {
namespace {

// By blocks: Hebrew to Arabic Extended-A, their presentation forms, and the ancient scripts.
bool reads_from_right(char32_t c) {
  return (c >= 0x590 && c <= 0x8FF) || (c >= 0xFB1D && c <= 0xFDFF) ||
         (c >= 0xFE70 && c <= 0xFEFC) || (c >= 0x10800 && c <= 0x10FFF) ||
         (c >= 0x1E800 && c <= 0x1EFFF);
}

// Digits and signs are read from the left, but decide nothing.
bool is_neutral(char32_t c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0xC0;
  const bool sign = (c >= 0x2000 && c <= 0x2BFF) || (c >= 0x3000 && c <= 0x303F) ||
                    (c >= 0x60C && c <= 0x60D) || c == 0x61B || c == 0x61F ||
                    (c >= 0x660 && c <= 0x66D) || c == 0xFFFD;
  return !letter || sign || c == 0xD7 || c == 0xF7;
}

}  // namespace

ReadingSide side_of(std::string_view utf8) {
  for (const char32_t c : code_points(utf8))
    if (!is_neutral(c)) return reads_from_right(c) ? ReadingSide::right : ReadingSide::left;
  return ReadingSide::none;
}

std::vector<ReadingSide> sides_of(const std::vector<std::string>& pieces) {
  std::vector<ReadingSide> sides;
  for (const std::string& piece : pieces) sides.push_back(side_of(piece));
  const auto first =
      std::ranges::find_if(sides, [](ReadingSide side) { return side != ReadingSide::none; });
  const ReadingSide whole = first == sides.end() ? ReadingSide::none : *first;
  for (size_t begin = 0; begin < sides.size();) {
    if (sides[begin] != ReadingSide::none) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < sides.size() && sides[end] == ReadingSide::none) ++end;
    const ReadingSide before = begin > 0 ? sides[begin - 1] : whole;
    const ReadingSide after = end < sides.size() ? sides[end] : whole;
    std::fill(sides.begin() + static_cast<std::ptrdiff_t>(begin),
              sides.begin() + static_cast<std::ptrdiff_t>(end), before == after ? before : whole);
    begin = end;
  }
  return sides;
}

}  // namespace headwater
