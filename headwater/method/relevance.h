// Relevance: which input tokens an output comes from, with a sign.
//
// Let y be a logit of the model, or the difference of two, and x_j the row of input token j: word,
// position and type together, or a patch with its position. The relevance of token j is gradient x
// input in a changed network,
//
//   R_j = x_j . g_j,  g = dy/dx,
//
// in which every nonlinear operation multiplies gradients by constant factors. A positive R_j is
// evidence for y, a negative one against it.
//
//   LayerNorm             the standard deviation is a constant; RMSNorm: the root mean square is
//   activation f          f(x)/x is a constant
//   gate a(u) v           a(u)/u is a constant, and each branch gets half of its gradient
//   attention P V         frozen: P is a constant, so dV = P' dO and nothing else
//                         attnlrp: half of dV, and a quarter of dQ and of dK
//   linear, sum, mean     unchanged; biases keep their share
//
// frozen is LibraGrad (Mehri et al. 2025) and, without biases, DecompX (Modarressi et al. 2023);
// attnlrp is the rule of Achtibat et al. 2024. For frozen, nothing is lost: with g_b the gradient
// of a bias b, sum_j R_j + sum_b b . g_b = y. attnlrp does not keep the sum.
//
// Also from the same pass: x_(l,j) . g_(l,j) after each layer l, which shows where the answer is at
// each depth; the share of each head, the sum over all rows of o_h . dO_h; and the edges of one
// layer, sum_h P_h (x) dP_h, whose row i and column j say what output token i took from input token
// j by its values. The edges of a layer sum to its heads' shares.
//
// integrated is another method (Sundararajan et al. 2017): R_j = (x_j - x'_j) . mean of dy/dx_j, by
// the derivative itself, over `steps` points on the straight line from a baseline x' to x, each in
// the middle of its step. The sum is y(x) - y(x') up to the error of the steps, which is noted.
//
// Time: a forward and a backward pass, less than gradient's; integrated: `steps` times that. Memory
// is linear in n: no n x n matrix exists, unless edges are asked for.
#pragma once
#include <optional>
#include <string>

#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/differentiable.h"

namespace headwater {

struct RelevanceOptions {
  RelevanceRule rule = RelevanceRule::frozen;
  std::string target = "best";  // as in source/gradient.h
  std::string against = {};
  Row row = {};  // the token to ask about, if every token has logits; all: the model's choice
  bool by_layer = false;          // values has one matrix for the input, then one for each layer
  bool heads = false;             // the result has the share of each head
  std::optional<int> edges = {};  // the result has the edges of this layer; -1 is the last
  std::optional<int> steps = {};  // for integrated; default 20
  std::string baseline = {};  // for integrated: "mask", "zero" or a word; "": as the input suits
};

/// A result with one row, for the token that the target is read from; values are signed. Throws
/// Error (usage) for a row that is not one token, and for options that the rule does not have.
/// Throws Error for a source that is not a model, a layer that does not exist, and as
/// Differentiable::relevance does.
Attribution relevance(Source& source, const RelevanceOptions& what = {});

}  // namespace headwater
