// The flow solver from one task to the next: restores what the last one took, sets up levels and
// the column, and reports the flow.
#if defined(HEADWATER_KERNEL_CPU_FLOW_TASK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_TASK_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_TASK_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_TASK_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Restores the residual capacities to what they were before the first task.
void Solver::put_back() {
  forget_collectors();
  for (const Step& step : steps_) *step.arc += step.amount;
  steps_.clear();
  for (size_t e = 0; e < saved_; ++e)
    store_block(plus(load_block(places_[e]), load_block(taken_.data() + e * flow_block)),
                places_[e]);
  saved_ = 0;
  for (int k = task_.bottom + 1; k < task_.top; ++k) {
    Level& level = at(k);
    for (int u : level.changed) {
      level.is_changed[static_cast<size_t>(u)] = 0;
      std::copy_n(line(level.whole, u), words_, line(level.open, u));
      std::fill_n(line(level.used, u), words_, 0);
    }
    level.changed.clear();
  }
}

void Solver::make_level(int k) {
  Level& level = at(k);
  const size_t stride = static_cast<size_t>(network_.stride), words = static_cast<size_t>(words_);
  if (k > task_.bottom && k < task_.top && level.arcs.size() == 0) {
    level.arcs = IntArray(static_cast<size_t>(n_) * stride);
    std::copy_n(network_.row(k, 0), level.arcs.size(), level.arcs.data());
    for (int u = 0; u < n_; ++u) row(k, u)[u] = 0;
    level.diagonal = IntArray(stride);
    level.column = IntArray(stride);
    level.column_full = IntArray(stride);
    level.is_changed.resize(stride);
    level.is_collector.resize(words);
    level.place.resize(stride);
    level.whole.resize(static_cast<size_t>((n_ + word_bits - 1) / word_bits * word_bits) * words);
    for (int u = 0; u < n_; ++u)
      for (int c = 0; c < blocks_; ++c)
        set_block(line(level.whole, u), c, positive(load_block(row(k, u) + c * flow_block)));
    level.open = level.whole;
    level.used.resize(level.whole.size());
    if (words_ > most_short) {
      level.used_in.resize(words * word_bits * words);
      level.used_in_known.resize(words * words);
    }
    for (std::vector<uint64_t>* bits :
         {&level.column_live, &level.diagonal_open, &level.diagonal_used, &level.column_used})
      bits->resize(words);
  }
  level.live.resize(words);
  level.unseen.resize(words);
}

// Moves column t out of the rows of levels from ... to - 1, and the previous column back in.
void Solver::set_column(int t, int from, int to) {
  const bool same = t == t_ && from == column_from_;
  if (same && to <= column_to_) return;
  for (int k = column_from_; k < column_to_ && !same; ++k)
    for (int u = 0; u < n_; ++u)
      if (const int32_t arc = at(k).column_full[u]; arc != 0) {
        row(k, u)[t_] = arc;
        add(line(at(k).whole, u), t_);
        add(line(at(k).open, u), t_);
      }
  for (int k = same ? column_to_ : from; k < to; ++k) {
    Level& level = at(k);
    for (int u = 0; u < n_; ++u) {
      int32_t& arc = row(k, u)[t];
      level.column_full[u] = u == t ? 0 : arc;
      arc = 0;
      drop(line(level.whole, u), t);
      drop(line(level.open, u), t);
    }
  }
  t_ = t;
  column_from_ = from;
  column_to_ = to;
}

void Solver::begin(const FlowTask& task) {
  task_ = task;
  for (int k = task.bottom; k < task.top; ++k) make_level(k);
  set_column(task.column, task.bottom + 1, task.top);
  begin_ = task.begin / flow_block;
  end_ = (task.end + flow_block - 1) / flow_block;
  low_ = begin_ / blocks_of_a_word;
  high_ = (end_ + blocks_of_a_word - 1) / blocks_of_a_word;
  cut_ = false;
  std::copy_n(task.supply, supply_.size(), supply_.data());
  std::copy_n(task.demand, room_.size(), room_.data());
  failed_ = most_failed();
  for (int k = task.bottom; k < task.top; ++k) begin_level(k);
}

void Solver::begin_level(int k) {
  Level& level = at(k);
  level.surplus = 0;
  chains_[static_cast<size_t>(k)] = level.diagonal.data();
  std::ranges::fill(level.live, 0);
  for (int c = begin_; c < end_; ++c) set_block(level.live.data(), c, 0xffff);
  if (k == task_.bottom) return;
  const int first = begin_ * flow_block, count = (end_ - begin_) * flow_block;
  std::copy_n(network_.diagonals[static_cast<size_t>(k)] + first, count,
              level.diagonal.data() + first);
  std::ranges::fill(level.column_live, 0);
  for (int c = begin_; c < end_; ++c) {
    const Block full = load_block(level.column_full.data() + c * flow_block);
    store_block(full, level.column.data() + c * flow_block);
    set_block(level.column_live.data(), c, positive(full));
  }
}

void Solver::visit_flow(const FlowVisit& visit) const {
  for (int k = task_.bottom + 1; k < task_.top; ++k) {
    const Level& level = at(k);
    for (int u = begin_ * flow_block; u < std::min(n_, end_ * flow_block); ++u) {
      const int32_t straight = network_.diagonals[static_cast<size_t>(k)][u] - level.diagonal[u];
      if (straight != 0) visit(k, u, u, straight);
      const int32_t over = level.column_full[u] - level.column[u];
      if (over != 0) visit(k, u, t_, over);
    }
    for (int u : level.changed) {
      const int32_t* left =
          level.arcs.data() + static_cast<size_t>(u) * static_cast<size_t>(network_.stride);
      const int32_t* full = network_.row(k, u);
      for (int v = 0; v < n_; ++v)
        if (v != u && v != t_ && full[v] != left[v] && !has(level.is_collector.data(), v))
          visit(k, u, v, full[v] - left[v]);
    }
    for (size_t x : level.collectors)
      for (int u = 0; u < n_; ++u) {
        const int v = collectors_.node[x];
        const size_t stride = static_cast<size_t>(network_.stride);
        const size_t arc = x * stride + static_cast<size_t>(u);
        const int32_t left =
            collectors_.filled[arc / flow_block]
                ? collectors_.left[arc]
                : level.arcs[static_cast<size_t>(u) * stride + static_cast<size_t>(v)];
        const int32_t amount = u == v ? 0 : network_.row(k, u)[v] - left;
        if (amount != 0) visit(k, u, v, amount);
      }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_TASK_INL_H
