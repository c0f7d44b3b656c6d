// A minimum cut of one pair: the attention weights that limit its flow.
#pragma once
#include <vector>

#include "headwater/method/flow/capacities.h"
#include "headwater/result/attribution.h"

namespace headwater {

/// Arcs without which nothing flows from `source` at the top to `sink` at the bottom, and whose
/// capacities add up to the maximum flow, exactly. Layers count from `first_layer`, the lowest. One
/// maximum flow.
std::vector<CutArc> minimum_cut(const Capacities& capacities, int source, int sink,
                                int first_layer);

}  // namespace headwater
