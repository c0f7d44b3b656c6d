// Attention flow (Abnar and Zuidema 2020, section 3): the most that can flow from an output token
// down to an input token if every attention weight is the capacity of a pipe.
//
// Definition. A node (l, i) for each level l = 0 ... L and token i; an arc (l, i) -> (l-1, j) of
// capacity A_l[i, j], the prepared layers (layer/layers.h). F(i, t) is the value of a maximum flow
// from (L, i) to (0, t). Capacities are integers in units of 2^-30 (flow_quantise.h), so values are
// exact multiples of 2^-30 in [0, 1] that depend on no tolerance, thread count or instruction set.
//
// Facts it rests on, with c_l(u) the column sums of A_l:
//   closed forms   one layer: A_1[i, t]; two: sum_u min(A_2[i, u], A_1[u, t]).
//   intake         from three layers on F(i, t) <= u_t = min(1, sum_u min(c_2(u), A_1[u, t])): all
//                  flow into t passes level 1 (flow_bounds.h).
//   sums of minima F(i, t) <= sum_u min(V_l(i, u), U_l(u, t)) for every level l (flow_bounds.h).
//   mixtures       rows sum to 1, so flows from the sources of a level combine into flows from any
//                  source above: if all of them reach u_t, every higher source does.
//   one vector     if all sources can deliver one vector on a level, and t takes in u_t from that
//                  vector, then F(i, t) = u_t for all i: 2 n flows for n^2 pairs
//                  (flow_universal.h).
//   own chain      minimum cuts mostly are t's own chain of nodes (l, t), and two layers below the
//                  top the few tokens that attend to t most: a bound without a flow
//                  (flow_bounds.h).
//   cuts           a minimum cut found for one source bounds all others (flow_cut_pool.h).
//
// Algorithm, sink by sink, on all threads (flow_pairs.cpp): what the one vector settles; then for
// each open pair a flow that stops at the least of these bounds, or at a cut. The flow is greedy
// and vectorised first: down the tokens' own chains, which the residual connection makes wide, and
// over into the sink's, first what the fewest tokens reach; mostly that is a maximum flow. Then
// Dinic's phases (kernel/cpu/flow_solver-inl.h). For every top layer, layer upon layer, with the
// exact values of the layer below as bounds; causal attention source by source, each flow beginning
// as that of the layer below (kernel/cpu/flow_raise-inl.h).
//
// Cost. All pairs of a deep bidirectional stack: about 2 n flows, each a few n^2 steps at most. In
// general one flow a pair: 1 to 40 microseconds at 128 tokens, 10 to 400 at 512 (docs/flow.md has
// the figures). Memory at most (2 L + 8) n^2 x 4 bytes and 64 MB; certify takes L n^2 x 8 more.
//
// Certificate. Each value has a feasible flow (or two that join, or several that mix) and an upper
// bound equal to it: a sum of minima or a cut. `certify` checks all of them with plain loops that
// share nothing with the solver (flow_certificate.h).
//
// Meaning. F(i, t) = u_t says how much t can take in, and nothing about i. In deep bidirectional
// stacks that is the value of nearly every pair, and a note says so; fewer layers tell more.
//
// References: Abnar and Zuidema, Quantifying attention flow in transformers, ACL 2020. Ford and
// Fulkerson 1956 (flow = cut). Dinic 1970 (phases). Megiddo 1974 (what one source can deliver is a
// polymatroid).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "headwater/layer/options.h"
#include "headwater/result/attribution.h"
#include "headwater/source/source.h"

namespace headwater {

struct FlowOptions {
  std::optional<int> column;  // one input token alone, -1 is the last: values have one column
  bool every_layer = false;   // by_layer: each top layer of the range
  bool normalise = false;     // rows divided by their sums; a row of zeros stays
  bool certify = false;       // check every value again, and say so in the notes
  bool cut = false;           // also the minimum cut of the pair: asks for one row and one column

  /// Told now and then how many of how many pairs are settled; from any thread, never from two at
  /// once. What it throws stops the work and comes out of flow().
  std::function<void(int64_t settled, int64_t pairs)> progress;
};

/// The rows that options.row asks for (all by default) over options.layers. result.exact has the
/// values in double, result.values rounded to float. Preset metrics prepares the layers as it says;
/// the graph is the same. Throws Error.
Attribution flow(Source& source, const Options& options = {}, const FlowOptions& flow_options = {});

}  // namespace headwater
