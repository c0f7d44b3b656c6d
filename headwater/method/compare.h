// Several results of one source side by side, on one scale, and how far they agree.
#pragma once
#include <string>
#include <vector>

#include "headwater/method/flow/flow.h"
#include "headwater/result/comparison.h"

namespace headwater {

/// A layer's fused attention beside the rollout over all layers. `layer` counts from the end if
/// negative.
Comparison compare_layer(Source& source, const Options& options, int layer);
/// Rollout up to each layer: all of them up to six, else 0, s, 2s, 3s and the last for s = layers
/// / 4.
Comparison compare_evolution(Source& source, const Options& options);
/// Rollout with discard 0, 0.1, 0.3 and 0.5.
Comparison compare_discard(Source& source, const Options& options);
/// Rollout with heads fused by mean, max and min.
Comparison compare_fuse(Source& source, const Options& options);
/// Raw attention of the last layer, average, rollout and flow, which may take long: `flow_options`
/// can watch its progress.
Comparison compare_method(Source& source, const Options& options,
                          const FlowOptions& flow_options = {});

/// Rollout of two models on one input. Where their tokens differ, both are given over pieces of the
/// text that both cut out (align.h), which options.row then counts; notes say what was left out.
Comparison compare_model(Source& first, Source& second, const Options& options);

/// agreement(a, b): mean over rows of the Spearman rank correlation (average ranks) between the
/// rows of two results of one shape; rows in which either is constant are left out, and where all
/// are it is 0. The diagonal is 1.
Matrix agreement(const std::vector<Attribution>& results);

}  // namespace headwater
