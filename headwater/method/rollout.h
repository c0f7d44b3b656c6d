// Attention rollout (Abnar and Zuidema 2020, equation 1): how much of each output token comes from
// each input token, if every layer mixes tokens as its attention says and its residual connection
// keeps a share r of them.
//
//   R_a = A_a,   R_l = A_l R_(l-1)   for l = a+1 ... b-1: the top layer is leftmost.
//
// A_l are the prepared layers (layer/layers.h), a:b is options.layers. Row i of the result is
// e_i A_(b-1) ... A_a, so one row is computed from the top down in L n^2 time. The whole matrix is
// computed from the bottom up in L n^3. Rows sum to 1 if the layers' rows do. Causal layers give a
// causal result and take a third of the time. Preset metrics reverses the product in every
// function here: A_a A_(a+1) ... A_(b-1).
#pragma once
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

/// The rows of options.row (all by default) of the rollout over options.layers. Needs four n x n
/// matrices for all rows, or two and a few vectors for some, regardless of the number of layers and
/// heads. Throws Error.
Attribution rollout(Source& source, const Options& options = {});

/// The same up to each layer of the range: values[k] is R with top layer by_layer[k].
Attribution rollout_by_layer(Source& source, const Options& options = {});

/// The same for the top layers in `tops`: at least one, ascending, within the range.
Attribution rollout_up_to(Source& source, const Options& options, const std::vector<int>& tops);

}  // namespace headwater
