#include "headwater/output/terminal/isolate.h"

#include <algorithm>

#include "headwater/core/utf8.h"
#include "headwater/output/picture/reading_side.h"

namespace headwater {

std::string isolated(std::string text) {
  const std::u32string points = code_points(text);
  const bool turns = std::ranges::any_of(points, [](char32_t c) {
    return side_of(to_utf8(std::u32string_view(&c, 1))) == ReadingSide::right;
  });
  return turns ? "\u2068" + std::move(text) + "\u2069" : text;
}

}  // namespace headwater
