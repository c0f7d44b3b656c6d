// Eight numbers about the attention of a batch, for data sets and dashboards.
//
// A is the head mean of one layer. R = A_0 A_1 ... A_(L-1) is the rollout of preset metrics: the
// first layer unchanged, the others with residual 0.5. Means and maxima run over the real (not
// padded) rows and columns of all items together; logarithms are natural.
//   mean_attention           mean of all entries of A
//   max_attention            largest entry of A
//   attention_entropy        mean over rows of - sum_j a_j log max(a_j, 1e-12)
//   attention_concentration  mean over rows of the largest entry
//   rollout_max              largest entry of R
//   rollout_entropy          mean over rows of the entropy of R's rows, each divided by its sum
#pragma once
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/result/metrics.h"
#include "headwater/source/source.h"

namespace headwater {

/// A negative `layer` counts from the end. Throws Error as Source does. Needs four n x n matrices.
Metrics metrics(Batch& batch, const Options& options = options_of(Preset::metrics), int layer = -1);
/// The same for one item.
Metrics metrics(Source& source, const Options& options = options_of(Preset::metrics),
                int layer = -1);

}  // namespace headwater
