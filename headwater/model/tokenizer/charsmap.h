// The "precompiled charsmap" of sentencepiece: a trie of texts and their replacements.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

class Charsmap {
 public:
  /// From base64. Throws Error naming `what` if it is not base64 or is truncated.
  Charsmap(std::string_view base64, const std::string& what);

  /// Applies the map to the text. A grapheme of up to five bytes becomes the replacement of its
  /// shortest prefix in the map, if there is one; otherwise each of its characters is replaced.
  void apply(AlignedText& text) const;

 private:
  std::optional<std::string_view> find(std::string_view piece) const;
  uint32_t unit(size_t at) const;

  std::string what_;
  std::vector<uint32_t> units_;
  std::string texts_;  // each ends with a zero byte
};

}  // namespace headwater
