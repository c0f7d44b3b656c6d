// Where a reader sees one character end and the next begin.
#pragma once
#include <cstddef>
#include <string_view>

namespace headwater {

/// Where the extended grapheme cluster that begins at byte `at` of valid UTF-8 ends.
size_t grapheme_end(std::string_view text, size_t at);

}  // namespace headwater
