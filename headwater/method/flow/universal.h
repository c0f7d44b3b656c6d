// One vector for all pairs: how to settle them where a deep stack no longer tells sources apart.
//
// Let pi be a vector on the nodes of level m that sums to 1. Suppose every source (top, i) can
// deliver pi exactly, and sink t can take in its maximum u_t (bounds.h) from supplies pi. Then
// F(i, t) = u_t for all i: of i's flow, keep what t takes at each node of level m, and join the two
// flows, which share no arc. So 2 n flows settle n^2 pairs. If all rows of all layers sum to 1,
// sources of a lower level that deliver pi do so for every level above, because a source above is a
// mixture of them. pi is the mean rollout over the four layers above m, which sources come close to
// by themselves.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "headwater/method/flow/capacities.h"
#include "headwater/method/flow/certificate.h"
#include "headwater/method/flow/workers.h"

namespace headwater {

/// F(i, t) = intake[t] for all i with sources[i], at the top level, and at every level from
/// `lowest_top` on if all sources are good.
using Settle = std::function<void(int t, const std::vector<uint8_t>& sources, int lowest_top)>;

/// Tries several m and calls settle for what they prove. `check` re-checks each flow and may be
/// null. Returns whether every pair is settled.
bool settle_by_universal_vector(const Capacities& capacities, Workers& workers,
                                const std::vector<int32_t>& intake, const FlowCheck* check,
                                const Settle& settle);

}  // namespace headwater
