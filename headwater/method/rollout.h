// Attention rollout (Abnar and Zuidema 2020, equation 1): how much of each output token comes from
// each input token, if every layer mixes tokens as its attention says and its residual connection
// keeps r of them.
//
//   R_j = A_j,   R_l = A_l R_(l-1)   for l = j+1 ... i-1: the top layer stands leftmost.
//
// A_l are the prepared layers (layer/layers.h). Row i of R is e_i A_(i-1) ... A_j, so one row is
// taken from the top down and costs L n^2; the whole matrix is folded from below and costs L n^3.
// Rows sum to 1 if the layers' rows do; causal layers give a causal result and cost a third. Preset
// metrics takes the product the other way round, A_j A_(j+1) ... A_(i-1), in all of these.
#pragma once
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

/// The rows that options.row asks for (all by default) of the rollout over options.layers. Four
/// n x n matrices for all rows, two and a few vectors for some; whatever the numbers of layers and
/// heads. Throws Error.
Attribution rollout(Source& source, const Options& options = {});

/// The same up to each layer of the range: values[k] is R of top layer by_layer[k].
Attribution rollout_by_layer(Source& source, const Options& options = {});

/// The same for chosen top layers only, in ascending order, each within the range.
Attribution rollout_at(Source& source, const Options& options, const std::vector<int>& tops);

}  // namespace headwater
