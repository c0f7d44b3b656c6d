// Certificates of flow values, checked with plain loops over the capacities.
//
// A value F(i, t) is certified by a feasible flow of that value and an upper bound equal to it.
// Nothing here uses the solver's arithmetic: a solver only reports which arcs carry how much and
// which nodes lie on which side of a cut, and both are checked against the capacities. Sums of
// minima are computed again. Every function throws Error where something does not hold.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headwater/kernel/flow/flow.h"
#include "headwater/method/flow/capacities.h"

namespace headwater {

/// What is the same for all sinks.
class FlowCheck {
 public:
  /// Borrows the capacities.
  explicit FlowCheck(const Capacities& capacities);

  /// The solver's last flow keeps within supplies, capacities and demands, loses nothing on the
  /// way, and carries `value` from the supplies to the demands.
  void flow(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value) const;

  /// Every row of every layer sums to exactly 2^30.
  void rows_are_full() const;

  /// Sum over w of A_l[w, u].
  int64_t column_sum(int l, int u) const {
    return column_sums_[static_cast<size_t>(l)][static_cast<size_t>(u)];
  }
  /// min(1, sum_u min(c_2(u), A_1[u, t])).
  int32_t intake(int t) const;
  /// `value` is intake(t), so that no source three layers up or higher sends more.
  void takes_in_all(int t, int32_t value) const;

  /// V_l(i, .) from source i at `top`, l = 1 ... top - 1, by plain sums of minima.
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

  /// Values of all sources at level l that are certified, in place of the bounds: U_l = F_l.
  void know(int l, std::span<const int32_t> values);

  /// Adds the solver's last cut after checking that it separates supplies from demands and costs
  /// `value`. From then on it bounds every source at task.top.
  void add_cut(const kernel::FlowTask& task, const kernel::FlowSolver& solver, int32_t value);

  /// Some upper bound of F(i, t) at `top` equals `value`.
  void bounded(int i, int top, int32_t value,
               const std::vector<std::vector<int64_t>>* from_source) const;

  /// The flows known at level top - 1 combine to one of `value` from (top, i): arcs to sources that
  /// have that value themselves carry it.
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
