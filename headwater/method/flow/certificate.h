// Certificates of flow values, checked with plain loops over the capacities.
//
// A value F(i, t) is certified by a feasible flow of that value and an upper bound equal to it.
// Nothing here uses the solver's arithmetic. The solver only reports how much each arc carries and
// which nodes are on which side of a cut; both are checked against the capacities. Sums of minima
// are recomputed. Every function throws Error if a check fails. Layers and levels as in flow.h.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headwater/kernel/flow/flow.h"
#include "headwater/method/flow/capacities.h"

namespace headwater {

/// Checks that are the same for all sinks.
class FlowCheck {
 public:
  /// Borrows the capacities.
  explicit FlowCheck(const Capacities& capacities);

  /// The solver's last flow stays within supplies, capacities and demands, conserves flow at every
  /// node, and carries `value` from the supplies to the demands.
  void flow(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value) const;

  /// Every row of every layer sums to exactly 2^30.
  void rows_are_full() const;

  /// Sum over w of A_(l-1)[w, u]: the capacity of the arcs from level l into (l - 1, u).
  int64_t column_sum(int l, int u) const {
    return column_sums_[static_cast<size_t>(l)][static_cast<size_t>(u)];
  }
  /// min(1, sum_u min(c_1(u), A_0[u, t])).
  int32_t intake(int t) const;
  /// `value` is intake(t), so no source at level 3 or higher can send more.
  void takes_in_all(int t, int32_t value) const;

  /// V_l(i, .) for source i at level `top`, l = 1 ... top - 1, by plain sums of minima.
  std::vector<std::vector<int64_t>> from_source(int i, int top) const;

  const Capacities& capacities() const { return capacities_; }

 private:
  const Capacities& capacities_;
  std::vector<std::vector<int64_t>> column_sums_;
};

/// The upper bounds of one sink.
class SinkCheck {
 public:
  /// U_l(., t) for l = 1 ... levels by plain sums of minima.
  SinkCheck(const FlowCheck& check, int t, int levels);

  /// Replaces the bounds of level l by certified values of all its sources: U_l = F_l.
  void know(int l, std::span<const int32_t> values);

  /// Adds the solver's last cut, after checking that it separates supplies from demands and costs
  /// `value`. From then on it bounds every source at level task.top.
  void add_cut(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value);

  /// Some upper bound on F(i, t) at level `top` equals `value`.
  void bounded(int i, int top, int32_t value,
               const std::vector<std::vector<int64_t>>* from_source) const;

  /// The flows known at level top - 1 combine to a flow of `value` from (top, i), over arcs to
  /// nodes that reach that value themselves.
  void combined(int i, int top, int32_t value) const;

 private:
  struct Cut {
    int top;
    int end;                 // it holds for sources below this one
    int64_t below;           // capacity of its arcs below level top - 1
    std::vector<bool> sink;  // nodes of level top - 1 on the sink's side
  };
  int64_t by_chain(int i, int top) const;

  const FlowCheck& check_;
  int t_;
  std::vector<std::vector<int64_t>> level_;
  std::vector<Cut> cuts_;
};

}  // namespace headwater
