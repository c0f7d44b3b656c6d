// Gradient x attention: which attention an output depends on.
//
// Let y be a logit of the model, or the difference of two. A_(l,h) is the attention of head h in
// layer l (n x n, row = output token, column = input token), and dA_(l,h) = dy / dA_(l,h), with the
// rest of the forward pass held fixed. To first order, the entrywise product A (x) dA is what y
// would lose without that attention. Its positive part, fused over the heads (mean by default),
// gives one map a layer:
//
//   G_l = mean_h (A_(l,h) (x) dA_(l,h))^+
//
// Three rules combine the maps of layers a ... b-1 into one matrix:
//
//   gradient          the mean of the G_l; for one layer, G_l itself
//   gradient-rollout  prepare each G_l as an attention map, with residual, discard and divided rows
//                     (layer/layers.h); then the rollout product A_(b-1) ... A_a; rows sum to 1
//   chefer            start from R = I and apply R <- R + G_l R from layer a up, which gives
//                     (I + G_(b-1)) ... (I + G_a); Chefer, Gur and Wolf 2021, equations 5 and 6
//
// A (x) dA = softmax(Q K') (x) (dO V') is computed a few rows at a time, so no heads x n x n array
// ever exists. The backward pass visits layers from the top down, so both products grow on the
// right: T <- T A_l and T <- T + T G_l, for all rows or only some. Time: a forward pass, a backward
// pass (about twice as long) and, for the two products, L n^3, or L n^2 for each row.
//
// The same pass ends at each token's own embedding e_j (before positions, types and norms). This
// gives two more numbers a token: |dy/de_j|, which Abnar and Zuidema 2020 compare attention with,
// and the sum of dy/de_j (x) e_j.
#pragma once
#include <string>

#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/differentiable.h"

namespace headwater {

struct GradientOptions {
  GradientRule rule = GradientRule::gradient;
  std::string target = "best";  // as in source/gradient.h
  std::string against;
  bool only_target_row = false;  // if options.row is all: only the row of the target's token
};

/// Returns the rows of options.row (all by default). If every token has logits of its own, a row
/// that names one token also selects the token whose logit is differentiated. fuse and layers apply
/// to every rule; residual, discard and related options apply only to gradient-rollout. Throws
/// Error (usage) if another rule gets a non-default one of those, and for preset metrics. Throws
/// Error for a source that is not a model, and as Differentiable::gradients does.
Attribution gradient(Source& source, const Options& options = {}, const GradientOptions& what = {});

}  // namespace headwater
