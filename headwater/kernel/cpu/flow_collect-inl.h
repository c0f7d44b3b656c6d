// The flow solver's second part: nodes that still have much room take a little from every supply.
//
// What is left after the rows of the large supplies are few nodes that attend to the sink's token
// so much that no single row fills them: it takes one small arc out of each of hundreds. So this
// goes by columns: all arcs into one such node, sixteen at a time. In the rows those arcs lie far
// apart, and mostly nothing more is asked of them. So what they give is noted, and settle() writes
// it into the rows only if the flow goes on.
#if defined(HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow_bits-inl.h"
#include "headwater/kernel/cpu/flow_blocks-inl.h"
#include "headwater/kernel/cpu/flow_rows-inl.h"
#include "headwater/kernel/cpu/flow_solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The nodes that have `least` left; none twice, as their arcs are not up to date then.
int32_t Solver::collect(int32_t most, int32_t least) {
  int32_t sent = 0;
  for (int b = task_.top - 2; b >= task_.bottom && sent < most; --b) {
    const bool last = b == task_.bottom;
    const std::vector<uint64_t>& live = last ? at(b).live : at(b).column_live;
    const int32_t* room = last ? room_.data() : at(b).column.data();
    roomy_.clear();
    for (int w = low_; w < high_; ++w) {
      const size_t x = static_cast<size_t>(w);
      for (uint64_t bits = live[x] & ~at(b).collected[x]; bits; bits &= bits - 1) {
        const int v = w * word_bits + first_of(bits);
        if (room[v] >= least && !(last && v == t_)) roomy_.push_back(v);
      }
    }
    // Those with the most room first: they need what is left of the most supplies.
    std::ranges::sort(roomy_, [&](int u, int v) { return room[u] > room[v]; });
    for (size_t x = 0; x < roomy_.size() && sent < most; ++x) {
      add(at(b).collected.data(), roomy_[x]);
      sent += collect_into(b, roomy_[x], most - sent);
    }
  }
  return sent;
}

// First those with more than the mean of a row's entries, and what is left straight down; then
// those with less, unless there are many.
int32_t Solver::collect_and_go_down(int32_t most) {
  for (int b = task_.bottom; b < task_.top - 1; ++b) std::ranges::fill(at(b).collected, 0);
  int32_t sent = collect(most, flow_unit / n_);
  if (sent < most) sent += straight_down(most - sent);
  if (sent == most) return sent;
  int many = 0;
  for (int b = task_.bottom; b < task_.top - 1; ++b)
    for (int w = low_; w < high_; ++w) {
      const Level& level = at(b);
      const size_t x = static_cast<size_t>(w);
      many +=
          static_cast<int>(hwy::PopCount(b == task_.bottom ? level.live[x] : level.column_live[x]));
    }
  return 2 * many > n_ ? sent : sent + collect(most - sent, 1);
}

// Into (b, v), and from there out of the network or over into the column's chain. Large supplies
// first, over their rows: mostly they have more than they need, where others may be missed.
int32_t Solver::collect_into(int b, int v, int32_t most) {
  const bool last = b == task_.bottom;
  int32_t& room = last ? room_[v] : at(b).column[v];
  const int32_t asked = std::min({most, room, last ? room : column_room(b - 1)});
  std::ranges::fill(gathered_, uint8_t{0});
  int32_t left = asked;
  for (size_t x = 0; x < large_.size() && left > 0; ++x)
    left -= collect_from_rows(b, v, large_[x], left);
  const int top = task_.top - 1;
  for (int c = begin_; c < end_ && left > 0; ++c) {
    const int j = c * flow_block;
    Block amount = load_block(supply_.data() + j);
    if (!positive(amount)) continue;
    for (int l = b + 2; l <= top; ++l)
      amount = smaller(amount, load_block(at(l).diagonal.data() + j));
    const int32_t sent = collect_block(b, v, c, amount, left);
    if (sent == 0) continue;
    take(amount, supply_.data() + j);
    for (int l = b + 2; l <= top; ++l) take(amount, at(l).diagonal.data() + j);
    left -= sent;
  }
  room -= asked - left;
  if (room == 0) drop(last ? at(b).live.data() : at(b).column_live.data(), v);
  if (!last) take_down_column(b - 1, asked - left);
  return asked - left;
}

// What supply h sends down its own chain, over a row of it, down another chain and over to (b, v).
int32_t Solver::collect_from_rows(int b, int v, int h, int32_t most) {
  int32_t left = most;
  int32_t there = supply_[h];
  for (int k = task_.top - 1; k >= b + 2 && left > 0 && there > 0; --k) {
    const int32_t asked = std::min(left, there);
    int32_t here = asked;
    for (int w = low_; w < high_ && here > 0; ++w)
      for (uint64_t bits = line(at(k).open, h)[w]; bits && here > 0;) {
        const int c = w * blocks_of_a_word + block_with(first_of(bits));
        bits &= ~(uint64_t{0xffff} << shift_of_block(c));
        const int j = c * flow_block;
        Block amount = load_block(row(k, h) + j);
        for (int l = b + 2; l < k; ++l)
          amount = smaller(amount, load_block(at(l).diagonal.data() + j));
        const int32_t sent = collect_block(b, v, c, amount, here);
        if (sent == 0) continue;
        take_arcs(k, h, c, amount);
        for (int l = b + 2; l < k; ++l) take(amount, at(l).diagonal.data() + j);
        here -= sent;
      }
    const int32_t used = asked - here;
    supply_[h] -= used;
    for (int l = k + 1; l < task_.top; ++l) at(l).diagonal[h] -= used;
    left -= used;
    there = std::min(there - used, at(k).diagonal[h]);
  }
  return most - left;
}

// Cuts the amounts that reach sixteen nodes of level b + 1 down to what their arcs into (b, v) take
// and to `most` in all, and takes that. Returns its sum.
HWY_INLINE int32_t Solver::collect_block(int b, int v, int c, Block& amount, int32_t most) {
  int32_t* arcs = into_.data() + c * flow_block;
  if (!gathered_[static_cast<size_t>(c)]) gather(b + 1, v, c, arcs);
  amount = smaller(amount, load_block(arcs));
  int32_t total = sum_of(amount);
  if (total == 0) return 0;
  if (total > most) {
    amount = at_most(amount, most);
    total = most;
  }
  take(amount, arcs);
  if (owed_ == owing_.size()) {
    owing_.resize(std::max<size_t>(64, 2 * owed_));
    owed_amounts_.resize(owing_.size() * flow_block);
  }
  owing_[owed_] = {b + 1, c, v};
  store_block(amount, owed_amounts_.data() + owed_ * flow_block);
  ++owed_;
  return total;
}

// The arcs of sixteen nodes of level k into (k - 1, v). Those of large supplies have given what
// they can, and their rows go on changing.
HWY_NOINLINE void Solver::gather(int k, int v, int c, int32_t* arcs) {
  gathered_[static_cast<size_t>(c)] = 1;
  const int first = c * flow_block;
  if (first + flow_block <= n_)
    store_block(gather_block(row(k, first) + v, network_.stride), arcs);
  else
    for (int x = 0; x < flow_block; ++x) arcs[x] = first + x < n_ ? row(k, first + x)[v] : 0;
  for (Bits bits = block_of(is_large_.data(), c); bits; bits &= bits - 1) arcs[first_of(bits)] = 0;
}

// Writes into the rows what collect() took.
void Solver::settle() {
  for (size_t x = 0; x < owed_; ++x) {
    const int32_t* amounts = owed_amounts_.data() + x * flow_block;
    for (Bits bits = positive(load_block(amounts)); bits; bits &= bits - 1)
      take_arc(owing_[x].level, owing_[x].block * flow_block + first_of(bits), owing_[x].to,
               amounts[first_of(bits)]);
  }
  owed_ = 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
