// Eight numbers on the attention of a batch, for data sets and dashboards.
//
// With A = the head mean of one layer and R = A_0 A_1 ... A_(L-1) (preset metrics: the first layer
// as it is, the others with residual 0.5), over the real rows and columns of all items together,
// natural logarithm:
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

/// `layer` counts from the end if negative. Throws Error as Source does. Four n x n matrices at
/// a time.
Metrics metrics(Batch& batch, const Options& options, int layer = -1);
/// The same for one item.
Metrics metrics(Source& source, const Options& options, int layer = -1);

}  // namespace headwater
