// Generated text, and the prompt tokens that each generated token depends on.
//
// With m prompt tokens and n generated ones, M[s, j, l] = R_l[row(s), j]: the rollout (tracker.h)
// up to layer l, at the position m + s - 1 that predicts token s, or at the token's own, m + s.
#pragma once
#include "headwater/layer/options.h"
#include "headwater/result/generated.h"
#include "headwater/source/generation.h"

namespace headwater {

/// Throws Error (usage) for options that are out of range or have no effect (top_k, top_p and seed
/// at temperature 0), and as Tracker and Generation do.
Generated generate(Generation& generation, const Options& options, const GenerateOptions& how);

}  // namespace headwater
