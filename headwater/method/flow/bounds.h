// Upper bounds of attention flow that need no flow: sums of minima.
//
// All flow into token t passes the nodes (l, u) of any level l in between. Through one of them goes
// no more than what reaches it from the source, V_l(i, u), nor than what t takes from it,
// U_l(u, t), so
//   F(i, t) <= sum_u min(V_l(i, u), U_l(u, t))     for every level l,
// with V and U themselves such bounds of the two halves. And whatever the source is, no more goes
// through (1, u) than layer 2 brings there, so from three layers on
//   F(i, t) <= min(1, sum_u min(c_2(u), A_1[u, t])),   c_2 = column sums of layer 2.
// Or by a cut of one form: below level m = top - 2 the sink's side is t's own chain of nodes
// (0, t) ... (m-1, t), at level m it is a set W of tokens. Then flow enters it from the side of the
// chain, out of nodes of level m outside of W, or over arcs into W, which the source's row feeds:
//   F(i, t) <= sum_{l < m} (c_l(t) - A_l[t, t]) + sum_{v not in W} A_m[v, t]
//              + sum_u min(A_top[i, u], sum_{w in W} A_{top-1}[u, w]).
// Minimum cuts mostly have this form where some tokens take most of the attention: W is t and the
// few tokens that attend to it most.
#pragma once
#include <cstdint>
#include <vector>

#include "headwater/kernel/flow/memory.h"
#include "headwater/method/flow/capacities.h"

namespace headwater {

/// The bound by level 1, for each t: what t takes in from any source three or more layers up.
std::vector<int32_t> intake(const Capacities& capacities);

/// U_l(., t) for one t and the levels 1 ... top - 1.
class SinkBounds {
 public:
  SinkBounds(const Capacities& capacities, int top);
  /// L n^2 time.
  void compute(int t);
  const int32_t* level(int l) const { return levels_[static_cast<size_t>(l)].data(); }
  /// A bound for every source at `top`.
  int32_t of_any_source() const { return any_; }

 private:
  const Capacities& capacities_;
  int top_;
  std::vector<kernel::IntArray> levels_;
  int32_t any_ = 0;
};

/// The last bound above, for one t and one top layer from 3 on. The sets are t and those 0 ... 7
/// tokens that attend to it most in layer top - 2; ties go to the lower token.
class ChainBound {
 public:
  explicit ChainBound(const Capacities& capacities);
  /// n time.
  void compute(int t, int top);
  /// The least for the source whose row of the top layer this is; begin and end as in
  /// sum_of_minima.
  int64_t of(const int32_t* row, int begin, int end) const;

 private:
  static constexpr int most_tokens = 8;  // in a set
  struct Set {
    explicit Set(int stride) : arcs(stride) {}
    int64_t elsewhere = 0;  // what enters the sink's side other than over arcs into the set
    kernel::IntArray arcs;  // of each token into the set: a part of its row
  };
  const Capacities& capacities_;
  std::vector<Set> sets_;
  std::vector<int> order_;
};

/// V_l(i, .) for the sources asked for, and as many levels as there is memory for.
class SourceBounds {
 public:
  /// At most `most` matrices of sources.size() x n. L n^2 time a source, on several threads.
  SourceBounds(const Capacities& capacities, int top, const std::vector<int>& sources, int most);
  /// The best bound of source number r over the levels kept, against the sink's side.
  int64_t with(const SinkBounds& sink, int r, int begin, int end) const;

 private:
  const Capacities& capacities_;
  std::vector<std::pair<int, kernel::IntArray>> kept_;  // level, values
};

}  // namespace headwater
