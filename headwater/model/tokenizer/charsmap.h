// The "precompiled charsmap" of sentencepiece: a trie of texts to replace, and what replaces them.
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
  /// From base64. Throws Error naming `what` if it is none, or is cut short.
  Charsmap(std::string_view base64, const std::string& what);

  /// What the map makes of the text: a grapheme of up to five bytes gives way to what replaces the
  /// shortest beginning of it that the map knows, else each character of it does.
  void apply(AlignedText& text) const;

 private:
  std::optional<std::string_view> find(std::string_view piece) const;
  uint32_t unit(size_t at) const;

  std::string what_;
  std::vector<uint32_t> units_;
  std::string texts_;  // each ends at a zero byte
};

}  // namespace headwater
