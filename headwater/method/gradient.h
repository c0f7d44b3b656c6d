// Gradient x attention: which attention an output of a model hangs on.
//
// Let y be a logit of the model, or the difference of two, A_(l,h) the attention of head h in layer
// l (n x n, row i = output token, column j = input token), and dA_(l,h) = dy / dA_(l,h) with
// everything else of the forward pass as it was. A (x) dA is, to first order, what y would lose
// without that attention; its positive part, joined over the heads (mean by default), is one map a
// layer:
//
//   G_l = mean_h (A_(l,h) (x) dA_(l,h))^+
//
// Three rules make one matrix of the maps of layers j ... i-1:
//
//   gradient          the mean of G_l; of one layer, G_l itself
//   gradient-rollout  G_l with residual, discard and divided rows as layer/layers.h says, then the
//                     product A_(i-1) ... A_j as in rollout.h; rows sum to 1
//   chefer            R <- R + G_l R from R = I, upwards (Chefer, Gur and Wolf 2021, equations 5
//                     and 6 for self-attention): (I + G_(i-1)) ... (I + G_j)
//
// A (x) dA = softmax(Q K') (x) (dO V'), so a head's map needs a few of its rows at a time and heads
// x n x n never exists. The backward pass gives layers from the top down, and so both products are
// grown from the left: T <- T A_l, T <- T + T G_l, whole or some rows alone. Time: a forward pass,
// a backward pass (about twice that) and, for the two products, L n^3, or L n^2 a row.
//
// The same pass ends at the tokens' own embeddings e_j (before positions, types and norms), which
// gives two more numbers a token: |dy/de_j| (Abnar and Zuidema 2020 hold attention against it) and
// the sum of dy/de_j (x) e_j.
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
};

/// The rows that options.row asks for (all by default). Where every token has logits of its own, a
/// row that is one token also says whose logit is meant. fuse and layers are for all rules;
/// residual, discard and what goes with them are for gradient-rollout only: throws Error (usage)
/// where they are not the default for another rule, and for preset metrics. Throws Error for a
/// source that is no model, and as Differentiable::gradients does.
Attribution gradient(Source& source, const Options& options = {}, const GradientOptions& what = {});

}  // namespace headwater
