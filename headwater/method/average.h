// Two plain views of attention: the mean over layers, and one layer unchanged.
//
//   average = (1/L) sum_l A_l over the prepared layers. Some texts call this "attention flow".
//   raw     = one layer, one head or fused; nothing is added or divided.
#pragma once
#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

/// Mean over options.layers. Takes L n^2 time and three n x n matrices. Throws Error.
Attribution average(Source& source, const Options& options = {});

/// Layer `layer` (negative: from the end), fused by options.fuse. options.row selects rows.
/// Residual and discard do not apply, and the result's options say so. Throws Error.
Attribution raw(Source& source, int layer, const Options& options = {});

}  // namespace headwater
