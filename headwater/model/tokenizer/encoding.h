// A text as tokens.
#pragma once
#include <string>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"

namespace headwater {

/// Lists of one length, an entry for each token.
struct Encoding {
  std::vector<int> ids;
  std::vector<std::string> tokens;
  std::vector<ByteSpan>
      offsets;             // bytes of the text, or of the pair's text; {0, 0} where sequences is -1
  std::vector<int> types;  // type ids, as the post-processor gives them
  std::vector<int> sequences;  // 0 the text, 1 its pair, -1 a token that the post-processor put in

  size_t size() const { return ids.size(); }
  /// Puts one token behind the others.
  void add(int id, std::string token, ByteSpan offset, int type, int sequence);
  /// Keeps the first `count` tokens, or all if there are fewer.
  void truncate(size_t count);
};

}  // namespace headwater
