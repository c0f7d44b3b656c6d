// A text on its way to tokens: pieces, some of which are already tokens.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"
#include "headwater/model/tokenizer/word_model.h"

namespace headwater {

struct Split {
  AlignedText text;
  std::optional<PieceToken> token;  // an added token: the model does not see it
};

using Splits = std::vector<Split>;

/// What happens to the text that a pattern matched.
enum class Behaviour { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// "Removed", "Isolated", ... Throws Error naming `what`.
Behaviour read_behaviour(std::string_view name, std::string_view what);

/// Splits `text` at `matches`, which cover it, and appends the parts that are not empty to `out`.
void cut(const AlignedText& text, std::vector<Match> matches, Behaviour behaviour, Splits& out);

/// Replaces every split that is not yet a token by the output of `make(text, out)`.
template <class Make>
void split_each(Splits& splits, Make make) {
  Splits out;
  out.reserve(splits.size());
  for (Split& split : splits) {
    if (split.token)
      out.push_back(std::move(split));
    else
      make(split.text, out);
  }
  splits = std::move(out);
}

}  // namespace headwater
