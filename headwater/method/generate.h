// Text that a model writes, and which prompt tokens each of its tokens leans on.
//
// m prompt tokens, n generated. M[s, j, l] = R_l[row(s), j]: the rollout (tracker.h) up to layer l,
// at the position that predicts token s, which is m + s - 1; or at its own, m + s.
#pragma once
#include "headwater/layer/options.h"
#include "headwater/result/generated.h"
#include "headwater/source/generation.h"

namespace headwater {

/// Throws Error (usage) for numbers outside their ranges or without effect (top_k, top_p and seed
/// at temperature 0), and as Tracker and Generation do.
Generated generate(Generation& generation, const Options& options, const GenerateOptions& how);

}  // namespace headwater
