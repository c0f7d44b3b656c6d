// The whole way from heads to results in double with plain loops, written from design.md section 2
// and from nothing else: what the engine is compared with.
#pragma once
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/method/metrics.h"
#include "tests/support/attention.h"

namespace headwater::test {

using Grid = std::vector<std::vector<double>>;

/// The heads of one layer and item as one map.
Grid fuse(const Attention& attention, int layer, int item, const Fuse& how);

/// Residual, discard and division of one map. Returns how many rows had nothing to divide by.
int prepare(Grid& map, const Options& options);

/// The prepared layers of options.layers, from below.
std::vector<Grid> prepare_layers(const Attention& attention, int item, const Options& options);

/// All R_l, from the first layer of the range to the last.
std::vector<Grid> rollouts(const Attention& attention, int item, const Options& options);

Grid average_of(const Attention& attention, int item, const Options& options);

/// The eight numbers, pooled over all items.
Metrics metrics_of(const Attention& attention, const Options& options, int layer);

Grid multiply(const Grid& a, const Grid& b);

}  // namespace headwater::test
