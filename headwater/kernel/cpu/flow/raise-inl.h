// The step from one level to the next: the flow out of (k + 1, i) starts from the flow out of
// (k, i), where its widest arc leads.
#if defined(HEADWATER_KERNEL_CPU_FLOW_RAISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_RAISE_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_RAISE_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_RAISE_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow/greedy-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Adds a level on top; the last flow now starts at the source's node there. Returns how much of it
// the source's supply feeds. The rest is a surplus: flow without a supply. Other supplies replace
// it, and the search treats it as room.
int32_t Solver::add_level(const FlowTask& task) {
  const int k = task.top - 1, i = task.source;
  int32_t value = 0;
  for (int c = begin_; c < end_; ++c) {
    const int j = c * flow_block;
    const Block used = minus(load_block(task_.supply + j), load_block(supply_.data() + j));
    value += sum_of(used);
    store_block(used, carried_.data() + j);
  }
  task_ = task;
  make_level(k);
  set_column(task.column, task.bottom + 1, task.top);
  begin_level(k);
  cut_ = false;
  at(k).diagonal[i] -= carried_[i];
  carried_[i] = 0;
  if (i != t_) {
    at(k).column[i] -= carried_[t_];
    carried_[t_] = 0;
  }
  for (int c = begin_; c < end_; ++c) {
    const Block amount = load_block(carried_.data() + c * flow_block);
    if (positive(amount)) take_arcs(row_of(k, i), c, amount);
  }
  std::copy_n(task.supply, supply_.size(), supply_.data());
  const int32_t fed = std::min(value, supply_[i]);
  supply_[i] -= fed;
  at(k).surplus = value - fed;
  drop(at(k).live.data(), i);  // it sends all that it can
  return fed;
}

// Replaces the surplus by other supplies, which go where the source's row went.
int32_t Solver::replace_surplus(int32_t most) {
  Level& level = at(task_.top - 1);
  most = std::min(most, level.surplus);
  if (most == 0) return 0;
  int32_t left = most - replace_straight_down(most);
  for (int c = begin_; c < end_ && left > 0; ++c)
    for (Bits bits = positive(load_block(supply_.data() + c * flow_block)); bits && left > 0;
         bits &= bits - 1) {
      const int u = c * flow_block + first_of(bits);
      if (u == task_.source) continue;
      const int32_t sent = replace_by_row(u, std::min(left, supply_[u]));
      supply_[u] -= sent;
      left -= sent;
    }
  level.surplus -= most - left;
  return most - left;
}

int32_t Solver::replace_straight_down(int32_t most) {
  const int k = task_.top - 1, i = task_.source;
  Level& level = at(k);
  int32_t left = most;
  for (int c = begin_; c < end_ && left > 0; ++c) {
    const int j = c * flow_block;
    Block amount = smaller(load_block(supply_.data() + j), load_block(carried_.data() + j));
    amount = smaller(amount, load_block(level.diagonal.data() + j));
    const int32_t total = sum_of(amount);
    if (total == 0) continue;
    if (total > left) amount = at_most(amount, left);
    take(amount, supply_.data() + j);
    take(amount, level.diagonal.data() + j);
    give_back(c, amount);
    left -= std::min(left, total);
  }
  if (i == t_) return most - left;
  const int32_t over =
      std::min({left, supply_[t_], level.diagonal[t_], level.column_full[i] - level.column[i]});
  supply_[t_] -= over;
  level.diagonal[t_] -= over;
  level.column[i] += over;
  return most - left + over;
}

int32_t Solver::replace_by_row(int u, int32_t most) {
  const int k = task_.top - 1;
  int32_t left = most;
  for (int c = begin_; c < end_ && left > 0; ++c) {
    const int j = c * flow_block;
    Block amount = smaller(load_block(row(k, u) + j), load_block(carried_.data() + j));
    const int32_t total = sum_of(amount);
    if (total == 0) continue;
    if (total > left) amount = at_most(amount, left);
    take_arcs(row_of(k, u), c, amount);
    give_back(c, amount);
    left -= std::min(left, total);
  }
  return most - left;
}

// Returns amounts to sixteen arcs of the source's row in the highest level.
void Solver::give_back(int c, const Block& amount) {
  const int k = task_.top - 1, i = task_.source;
  take(amount, carried_.data() + c * flow_block);
  take_arcs(row_of(k, i), c, minus(repeated(0), amount));
  uint64_t* used = line(at(k).used, i);
  set_block(used, c,
            block_of(used, c) & less(load_block(row(k, i) + c * flow_block),
                                     load_block(network_.row(k, i) + c * flow_block)));
}

// Removes all surplus from the flow, down to the demands.
void Solver::drop_surplus() {
  std::vector<int32_t> here(static_cast<size_t>(n_)), below(here.size());
  for (int k = task_.top - 1; k > task_.bottom; --k) {
    here[static_cast<size_t>(task_.source)] += at(k).surplus;
    at(k).surplus = 0;
    for (int u = 0; u < n_; ++u)
      for (int v = 0; v < n_ && here[static_cast<size_t>(u)] > 0; ++v) {
        const int32_t amount =
            std::min(here[static_cast<size_t>(u)], network_.row(k, u)[v] - left_on(k, u, v));
        if (amount == 0) continue;
        use(k, u, v, -amount);
        here[static_cast<size_t>(u)] -= amount;
        below[static_cast<size_t>(v)] += amount;
      }
    std::swap(here, below);
  }
  for (int v = 0; v < n_; ++v) room_[v] += here[static_cast<size_t>(v)];
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_RAISE_INL_H
