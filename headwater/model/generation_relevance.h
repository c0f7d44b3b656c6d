// The relevance of a text's tokens for tokens that a model wrote later.
#pragma once
#include <span>
#include <vector>

#include "headwater/model/model.h"
#include "headwater/source/generation.h"

namespace headwater {

/// For each span of generated tokens, the relevance of every token before its last one for the sum
/// of their scores. `ids` is the prompt, of `prompt` tokens, and all that was generated. One
/// forward pass, which is kept, and one backward pass a span.
std::vector<SpanRelevance> span_relevance(const Model& model, const std::vector<int>& ids,
                                          int prompt, std::span<const Range> spans,
                                          RelevanceRule rule, WordScore score);

}  // namespace headwater
