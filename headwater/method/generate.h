// Generated text, and the prompt tokens that each generated token depends on.
//
// With m prompt tokens and n generated ones, M[s, j, l] = R_l[row(s), j]: the rollout (tracker.h)
// up to layer l, at the position m + s - 1 that predicts token s, or at the token's own, m + s.
//
// A model with an encoder has source tokens in place of prompt tokens: M[s, j, l] = S_l[row(s), j]
// of target_tracker.h, and what comes from the target itself is kept beside it.
//
// Or the relevance (relevance.h) of each token before s, of the prompt or generated, for the logit
// of token s at the position that predicts it: signed, for the whole model. A span of generated
// tokens as one target has the sum of their logits, which says where a sentence comes from. With
// log-probabilities in place of logits, evidence for both a token and its rivals cancels out. The
// text is read once more, with the activations kept; each target then costs one backward pass.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/result/generated.h"
#include "headwater/source/generation.h"

namespace headwater {

/// Throws Error (usage) for options that are out of range or have no effect (top_k, top_p and seed
/// at temperature 0; temperature and ignore_end with a continuation; with relevance, all of
/// `options` and own_position; without it, span and score), and as Tracker and Generation do.
/// Throws Error for a span of tokens that were not generated.
Generated generate(Generation& generation, const Options& options, const GenerateOptions& how);

/// Opens text k. Called only when there is room for it.
using OpenText = std::function<std::unique_ptr<Generation>(int k)>;

/// Several texts, in order. Those of one model read together: each step takes the next tokens of
/// all texts that are not finished through one matrix product. The same bytes as one by one.
std::vector<Generated> generate(int count, const OpenText& open, const Options& options,
                                const GenerateOptions& how);

}  // namespace headwater
