// Upper bounds on attention flow that need no flow: sums of minima. Layers and levels as in flow.h:
// A_l holds the arcs from level l+1 to level l, and c_l(u) is the sum of column u of A_l.
//
// All flow into token t passes through the nodes (l, u) of any level l in between. A node carries
// at most V_l(i, u), what the source can send to it, and at most U_l(u, t), what t can take from
// it, so
//   F(i, t) <= sum_u min(V_l(i, u), U_l(u, t))     for every level l,
// where V and U are themselves such bounds for the two halves. From three layers on there is also a
// bound that holds for every source: (1, u) carries no more than layer 1 brings to it, so
//   F(i, t) <= min(1, sum_u min(c_1(u), A_0[u, t])).
// A third bound is a cut. Let m = top - 2. Its sink side is t's own chain of nodes (0, t) ...
// (m-1, t) and, at level m, a set W of tokens. Flow enters that side in three ways: into the chain
// from other tokens, into (m-1, t) from nodes of level m outside W, or over arcs into W, which
// carry no more than the source's row supplies:
//   F(i, t) <= sum_{l < m-1} (c_l(t) - A_l[t, t]) + sum_{v not in W} A_(m-1)[v, t]
//              + sum_u min(A_(top-1)[i, u], sum_{w in W} A_(top-2)[u, w]).
// If a few tokens take most of the attention, most minimum cuts have this form, with W = t and the
// few tokens that attend to it most.
#pragma once
#include <cstdint>
#include <vector>

#include "headwater/kernel/flow/memory.h"
#include "headwater/method/flow/capacities.h"

namespace headwater {

/// The bound at level 1, for each t: what t can take in from any source three or more levels up.
std::vector<int32_t> intake(const Capacities& capacities);

/// U_l(., t) for one t and the levels 1 ... top - 1.
class SinkBounds {
 public:
  SinkBounds(const Capacities& capacities, int top);
  /// L n^2 time.
  void compute(int t);
  const int32_t* level(int l) const { return levels_[static_cast<size_t>(l)].data(); }
  /// A bound for every source at level `top`.
  int32_t of_any_source() const { return any_; }

 private:
  const Capacities& capacities_;
  int top_;
  std::vector<kernel::IntArray> levels_;
  int32_t any_ = 0;
};

/// The last bound above, for one t and one top level of at least 3. The sets W are t and the 0 ...
/// 7 tokens of level top - 2 that attend to it most; ties go to the lower token.
class ChainBound {
 public:
  explicit ChainBound(const Capacities& capacities);
  /// Takes n time.
  void compute(int t, int top);
  /// The smallest bound for a source with this row of arcs from the top level; begin and end as in
  /// sum_of_minima.
  int64_t of(const int32_t* row, int begin, int end) const;

 private:
  static constexpr int most_tokens = 8;  // in a set
  struct Set {
    explicit Set(int stride) : arcs(stride) {}
    int64_t elsewhere = 0;  // capacity of the cut other than arcs into the set
    kernel::IntArray arcs;  // of each token into the set: part of its row
  };
  const Capacities& capacities_;
  std::vector<Set> sets_;
  std::vector<int> order_;
};

/// V_l(i, .) for the requested sources, and as many levels as memory allows.
class SourceBounds {
 public:
  /// Keeps at most `most` matrices of sources.size() x n. Takes L n^2 time a source; runs on
  /// several threads.
  SourceBounds(const Capacities& capacities, int top, const std::vector<int>& sources, int most);
  /// The best bound for source number r, over the levels kept, against the sink's bounds.
  int64_t with(const SinkBounds& sink, int r, int begin, int end) const;

 private:
  const Capacities& capacities_;
  std::vector<std::pair<int, kernel::IntArray>> kept_;  // level, values
};

}  // namespace headwater
