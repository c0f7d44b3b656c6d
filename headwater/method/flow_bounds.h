// Upper bounds of attention flow that need no flow: sums of minima.
//
// All flow into token t passes the nodes (l, u) of any level l in between. Through one of them goes
// no more than what reaches it from the source, V_l(i, u), nor than what t takes from it,
// U_l(u, t), so
//   F(i, t) <= sum_u min(V_l(i, u), U_l(u, t))     for every level l,
// with V and U themselves such bounds of the two halves. And whatever the source is, no more goes
// through (1, u) than layer 2 brings there, so from three layers on
//   F(i, t) <= min(1, sum_u min(c_2(u), A_1[u, t])),   c_2 = column sums of layer 2.
// Or by where flow enters t's own chain of nodes (0, t) ... (m, t): from the side, over arcs
// (l, u) -> (l-1, t) with u != t and l <= m, or at its upper end. With m = top - 2 that end takes
// what two layers bring, which has a closed form:
//   F(i, t) <= sum_{l <= top-2} (c_l(t) - A_l[t, t]) + sum_u min(A_top[i, u], A_{top-1}[u, t]).
// With strong sinks a few tokens get more from the source than they can pass on. For any set S of
// tokens, what they pass on is bounded in that same way, one layer further down, as if they were
// one source with the sum R_S of their rows; the others send what they get:
//   F(i, t) <= sum_{u not in S} A_top[i, u]
//              + sum_{l <= top-3} (c_l(t) - A_l[t, t]) + sum_v min(R_S(v), A_{top-2}[v, t]).
// The sets tried are those of the 1, 2, ... 16 largest entries of the source's row.
#pragma once
#include <cstdint>
#include <vector>

#include "headwater/kernel/flow_memory.h"
#include "headwater/method/flow_capacities.h"

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

/// The bound by t's own chain, for one t and one top layer from 2 on.
class ChainBound {
 public:
  explicit ChainBound(const Capacities& capacities)
      : capacities_(capacities), column_(capacities.stride()) {}
  /// n time.
  void compute(int t, int top);
  /// For the source whose row of the top layer this is; begin and end as in sum_of_minima.
  int64_t of(const int32_t* row, int begin, int end) const {
    return from_the_side_ + kernel::flow_table().sum_of_minima(row, column_.data(), begin, end);
  }

 private:
  const Capacities& capacities_;
  kernel::IntArray column_;  // of layer top - 1
  int64_t from_the_side_ = 0;
};

/// The last bound above, for one top layer from 3 on and all sources.
class LargestBound {
 public:
  /// n^2 time and little memory.
  LargestBound(const Capacities& capacities, int top);
  /// The least for source i; `below` is the bound of the sink's chain for top - 1. A few n time.
  int64_t of(int i, const ChainBound& below, kernel::IntArray& scratch) const;

  /// As many sets are tried at most. Ties go to the lower token.
  static constexpr int most_sets = 16;

 private:
  const Capacities& capacities_;
  int top_, sets_;
  std::vector<int> largest_;  // [i][...]: tokens by what they get from i
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
