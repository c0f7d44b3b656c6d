// Several results of one source side by side on one scale, and how well they agree.
#pragma once
#include <string>
#include <vector>

#include "headwater/method/flow/flow.h"
#include "headwater/result/comparison.h"

namespace headwater {

/// One layer's fused attention next to the rollout over all layers. A negative `layer` counts from
/// the end.
Comparison compare_layer(Source& source, const Options& options = {}, int layer = -1);
/// Rollout up to each layer of `shown`. If it is empty: up to each layer of options.layers, or,
/// with more than six, up to 0, s, 2s, 3s and the last, s = layers / 4.
Comparison compare_evolution(Source& source, const Options& options = {},
                             const std::vector<int>& shown = {});
/// Rollout with each share of `discards`. Throws Error (usage) if the options set a discard of
/// their own.
Comparison compare_discard(Source& source, const Options& options = {},
                           const std::vector<double>& discards = {0, 0.1, 0.3, 0.5});
/// Raw attention of every head of every layer of options.layers: layers x heads panels, the heads
/// of one layer after the other. Throws Error for too many panels or numbers: choose rows or
/// layers.
Comparison compare_head(Source& source, const Options& options = {});
/// Rollout with heads fused by mean, max and min. Throws Error (usage) for another fuse.
Comparison compare_fuse(Source& source, const Options& options = {});
/// Raw attention of the last layer, average, rollout and flow. Flow may take long: `flow_options`
/// can report its progress.
Comparison compare_method(Source& source, const Options& options = {},
                          const FlowOptions& flow_options = {});

/// The layers of options.layers that `shown` names (negative: from the end), in ascending order.
/// Throws Error if one does not exist.
std::vector<int> chosen_layers(Source& source, const Options& options,
                               const std::vector<int>& shown);

/// Rollout of two models on one input. If their tokens differ, both results are over the pieces of
/// text that they share (align.h), and options.row counts those pieces. Notes say what was left
/// out.
Comparison compare_model(Source& first, Source& second, const Options& options = {});

/// The panels by words (words.h), and their agreement by words. Throws Error (usage) as words.h
/// does, and so for a comparison by method, because it includes flow.
Comparison merge_words(Comparison comparison);

/// agreement(a, b): the mean over rows of the Spearman rank correlation between results a and b,
/// which have the same shape. Rows where either is constant are left out; if all are, it is 0. The
/// diagonal is 1.
Matrix agreement(const std::vector<Attribution>& results);

}  // namespace headwater
