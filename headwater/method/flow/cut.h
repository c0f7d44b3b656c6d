// The flow of one pair, arc by arc, and its minimum cut: the attention weights that limit it.
#pragma once
#include <vector>

#include "headwater/method/flow/capacities.h"
#include "headwater/result/attribution.h"

namespace headwater {

struct PairFlow {
  /// Arcs without which nothing flows, and whose capacities add up to the maximum flow, exactly.
  std::vector<CutArc> cut;
  /// What each arc carries of a maximum flow; there may be others of the same value. In every layer
  /// the amounts add up to the maximum flow, exactly.
  std::vector<CutArc> carried;
};

/// From `source` at the top to `sink` at the bottom. Layers count from `first_layer`, the lowest.
/// One maximum flow.
PairFlow pair_flow(const Capacities& capacities, int source, int sink, int first_layer);

}  // namespace headwater
