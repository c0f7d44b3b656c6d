// A text as tokens.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

/// Lists of equal length, with an entry for each token.
struct Encoding {
  std::vector<int> ids;
  std::vector<std::string> tokens;
  std::vector<ByteSpan> offsets;  // bytes of the text or its pair; {0, 0} where sequences is -1
  std::vector<int> types;         // type ids from the post-processor
  std::vector<int> sequences;     // 0: the text, 1: its pair, -1: added by the post-processor
  size_t cut = 0;                 // tokens of the texts that a limit left out

  size_t size() const { return ids.size(); }
  /// Appends one token.
  void add(int id, std::string token, ByteSpan offset, int type, int sequence);
  /// Keeps the first `count` tokens, or all if there are fewer.
  void truncate(size_t count);
};

}  // namespace headwater
