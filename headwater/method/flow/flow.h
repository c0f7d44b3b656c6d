// Attention flow (Abnar and Zuidema 2020, section 3): the most that can flow from an output token
// down to an input token if every attention weight is the capacity of a pipe.
//
// Definition. The prepared layers (layer/layers.h) are A_0 ... A_(L-1). The graph has L+1 levels,
// and a node (l, i) for each level l and token i. Level 0 is the input, and level l+1 is after
// layer l: the arc (l+1, i) -> (l, j) has capacity A_l[i, j]. F(i, t) is the value of a maximum
// flow from (L, i) to (0, t). Capacities are integers in units of 2^-30 (quantise.h), so values are
// exact multiples of 2^-30 in [0, 1] and depend on no tolerance, thread count or instruction set.
//
// Facts. c_l(u) is the sum of column u of A_l.
//   closed forms    one layer: A_0[i, t]; two: sum_u min(A_1[i, u], A_0[u, t]).
//   intake          from three layers on, F(i, t) <= u_t = min(1, sum_u min(c_1(u), A_0[u, t])),
//                   because all flow into t passes level 1 (bounds.h).
//   sums of minima  F(i, t) <= sum_u min(V_l(i, u), U_l(u, t)) for every level l (bounds.h).
//   mixtures        rows sum to 1, so flows from the sources of one level combine into flows from
//                   any source above it. If they all reach u_t, every higher source does.
//   one vector      if all sources can deliver the same vector on some level, and t takes in u_t
//                   from it, then F(i, t) = u_t for all i: 2 n flows settle n^2 pairs
//                   (universal.h).
//   own chain       most minimum cuts are t's own chain of nodes (l, t) and, two levels below the
//                   top, the few tokens that attend to t most: a bound without a flow (bounds.h).
//   cuts            a minimum cut for one source bounds all others (cut_pool.h).
//
// Algorithm. Sinks are shared out over all threads (pairs.cpp). First, one vector settles what it
// can. Each open pair then needs a flow, which stops at the least of these bounds or at a cut. The
// flow starts greedily with vector instructions: down the tokens' own chains, which the residual
// connection makes wide, and across into the sink's chain, starting with what the fewest tokens can
// reach. Mostly that is already a maximum flow; if not, Dinic's phases follow
// (kernel/cpu/flow/solver-inl.h). For every top level, the work goes level by level, with the exact
// values of the level below as bounds. Causal attention goes source by source, and each flow starts
// from that of the level below (kernel/cpu/flow/raise-inl.h).
//
// Cost. All pairs of a deep bidirectional stack take about 2 n flows of at most a few n^2 steps
// each. In general there is one flow a pair: 1 to 40 microseconds at 128 tokens, 10 to 400 at 512
// (docs/flow.md has the figures). Memory is at most (2 L + 8) n^2 x 4 bytes and 64 MB; certify
// takes L n^2 x 8 bytes more.
//
// Certificate. Each value has a feasible flow (or two joined, or several mixed) and an upper bound
// equal to it: a sum of minima or a cut. `certify` checks all of them with plain loops that share
// nothing with the solver (certificate.h).
//
// Meaning. F(i, t) = u_t says how much t can take in, and nothing about i. In deep bidirectional
// stacks nearly every pair has that value, and a note says so; fewer layers tell more.
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
  std::optional<int> column;  // one input token, -1 is the last: values have one column
  bool every_layer = false;   // by_layer: one result for each top layer of the range
  bool normalise = false;     // divide rows by their sums; a row of zeros stays zero
  bool certify = false;       // check every value again, and say so in the notes
  bool cut = false;           // also the minimum cut of the pair: asks for one row and one column

  /// Called from time to time with the number of settled pairs and of all pairs. Calls come from
  /// any thread, never two at once. An exception stops the work and comes out of flow().
  std::function<void(int64_t settled, int64_t pairs)> progress;
};

/// The rows of options.row (all by default) over options.layers. result.exact has the values in
/// double, result.values rounded to float. Preset metrics changes how layers are prepared, not the
/// graph. Throws Error.
Attribution flow(Source& source, const Options& options = {}, const FlowOptions& flow_options = {});

}  // namespace headwater
