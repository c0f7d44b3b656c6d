// Two plain ways to look at attention: the mean over layers, and one layer as it is.
//
//   average = (1/L) sum_l A_l over the prepared layers; some texts call this "attention flow".
//   raw     = one layer, one head or fused, nothing added and nothing divided.
#pragma once
#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

/// Mean over options.layers. L n^2 time, three n x n matrices. Throws Error.
Attribution average(Source& source, const Options& options = {});

/// Layer `layer` (from the end if negative) fused by options.fuse. options.row chooses rows;
/// residual and discard are not applied, and the result's options say so. Throws Error.
Attribution raw(Source& source, int layer, const Options& options = {});

}  // namespace headwater
