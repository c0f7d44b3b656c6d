// Boundaries between characters as readers see them.
#pragma once
#include <cstddef>
#include <string_view>

namespace headwater {

/// The end of the extended grapheme cluster that starts at byte `at` of valid UTF-8.
size_t grapheme_end(std::string_view text, size_t at);

}  // namespace headwater
