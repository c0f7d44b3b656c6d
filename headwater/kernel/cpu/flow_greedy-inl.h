// The flow solver's first part: a greedy flow, sixteen chains at a time.
#if defined(HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow_bits-inl.h"
#include "headwater/kernel/cpu/flow_blocks-inl.h"
#include "headwater/kernel/cpu/flow_solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Keeps the first `most` units of a block of amounts.
HWY_INLINE Block at_most(const Block& amounts, int32_t most) {
  HWY_ALIGN int32_t numbers[flow_block];
  store_block(amounts, numbers);
  for (int32_t& x : numbers) {
    x = std::min(x, most);
    most -= x;
  }
  return load_block(numbers);
}

// Every supply down its own chain to the demand below it.
int32_t Solver::straight_down(int32_t most) {
  int32_t sent = 0;
  for (int c = begin_; c < end_ && sent < most; ++c) {
    const int j = c * flow_block;
    Block amount = smaller(load_block(supply_.data() + j), load_block(room_.data() + j));
    for (int k = task_.bottom + 1; k < task_.top; ++k)
      amount = smaller(amount, load_block(at(k).diagonal.data() + j));
    int32_t total = sum_of(amount);
    if (total == 0) continue;
    if (total > most - sent) {
      amount = at_most(amount, most - sent);
      total = most - sent;
    }
    take(amount, supply_.data() + j);
    take(amount, room_.data() + j);
    for (int k = task_.bottom + 1; k < task_.top; ++k) take(amount, at(k).diagonal.data() + j);
    sent += total;
  }
  return sent;
}

// What the chain of the column takes from (k, t) down.
int32_t Solver::column_room(int k) const {
  int32_t room = room_[t_];
  for (int j = task_.bottom + 1; j <= k; ++j) room = std::min(room, at(j).diagonal[t_]);
  return room;
}

HWY_INLINE void Solver::take_down_column(int k, int32_t amount) {
  room_[t_] -= amount;
  for (int j = task_.bottom + 1; j <= k; ++j) at(j).diagonal[t_] -= amount;
}

// Every supply down its own chain and over into the column's, as late as possible first.
int32_t Solver::into_column(int32_t most) {
  int32_t sent = 0;
  for (int k = task_.bottom + 1; k < task_.top && sent < most; ++k) {
    int32_t room = std::min(most - sent, column_room(k - 1));
    if (room == 0) break;
    for (int c = begin_; c < end_ && room > 0; ++c) {
      const int j = c * flow_block;
      Block amount = smaller(load_block(supply_.data() + j), load_block(at(k).column.data() + j));
      for (int l = k + 1; l < task_.top; ++l)
        amount = smaller(amount, load_block(at(l).diagonal.data() + j));
      int32_t total = sum_of(amount);
      if (total == 0) continue;
      if (total > room) {
        amount = at_most(amount, room);
        total = room;
      }
      take(amount, supply_.data() + j);
      take(amount, at(k).column.data() + j);
      set_block(at(k).column_live.data(), c, positive(load_block(at(k).column.data() + j)));
      for (int l = k + 1; l < task_.top; ++l) take(amount, at(l).diagonal.data() + j);
      take_down_column(k - 1, total);
      room -= total;
      sent += total;
    }
  }
  return sent;
}

// Pushes what supply u has, at most `most`.
int32_t Solver::push_supply(int u, int32_t most) {
  const int32_t x = std::min(supply_[u], most);
  if (x <= 0 || !has(at(task_.top - 1).live.data(), u)) return 0;
  const int32_t sent = push(task_.top - 1, u, x);
  supply_[u] -= sent;
  return sent;
}

// Large supplies have the least choice: they go while everything is empty, down their own chains
// first.
int32_t Solver::heaviest_first(int32_t most) {
  own_chain_first_ = true;
  int32_t sent = push_supply(task_.column, most);
  sent += push_supply(task_.source, most - sent);
  for (int c = begin_; c < end_ && sent < most; ++c) {
    const int j = c * flow_block;
    const Block limits = repeated(heavy_);
    for (Bits bits = less(limits, load_block(supply_.data() + j)); bits; bits &= bits - 1)
      sent += push_supply(j + first_of(bits), most - sent);
  }
  own_chain_first_ = false;
  return sent;
}

int32_t Solver::node_by_node(int32_t most) {
  int32_t sent = 0;
  for (int c = begin_; c < end_ && sent < most; ++c)
    for (Bits bits = positive(load_block(supply_.data() + c * flow_block)); bits; bits &= bits - 1)
      sent += push_supply(c * flow_block + first_of(bits), most - sent);
  return sent;
}

// Row u of level k, sixteen arcs at a time, each as far as the chain below it goes.
HWY_INLINE int32_t Solver::push_row(int k, int u, int32_t most) {
  int32_t sent = 0;
  int32_t* arcs = row(k, u);
  uint64_t* live = at(task_.bottom).live.data();
  for (int w = low_; w < high_; ++w) {
    uint64_t open = line(at(k).open, u)[w] & live[w];
    while (open) {
      const int c = w * blocks_of_a_word + block_with(first_of(open));
      open &= ~(uint64_t{0xffff} << shift_of_block(c));
      const int j = c * flow_block;
      const Block room = load_block(room_.data() + j);
      Block amount = smaller(load_block(arcs + j), room);
      for (int l = task_.bottom + 1; l < k; ++l)
        amount = smaller(amount, load_block(at(l).diagonal.data() + j));
      // One arc for all of it, if there is one.
      if (const Bits wide = less(repeated(most - sent - 1), amount)) {
        const int v = j + first_of(wide);
        take_arc(k, u, v, most - sent);
        if ((room_[v] -= most - sent) == 0) drop(live, v);
        for (int l = task_.bottom + 1; l < k; ++l) at(l).diagonal[v] -= most - sent;
        return most;
      }
      int32_t total = sum_of(amount);
      if (total == 0) continue;
      if (total > most - sent) {
        amount = at_most(amount, most - sent);
        total = most - sent;
      }
      take_arcs(k, u, c, amount);
      const Block left = minus(room, amount);
      store_block(left, room_.data() + j);
      set_block(live, c, positive(left));
      for (int l = task_.bottom + 1; l < k; ++l) take(amount, at(l).diagonal.data() + j);
      sent += total;
      if (sent == most) return sent;
    }
  }
  return sent;
}

// Row u of level k, then down the chains, then over into the column's chain.
HWY_INLINE int32_t Solver::push_row_into_column(int k, int u, int32_t most) {
  int32_t sent = 0;
  const int32_t* arcs = row(k, u);
  int32_t below = room_[t_];  // what the column's chain takes from where it is entered
  for (int over = task_.bottom + 1; over < k && sent < most; ++over) {
    if (over > task_.bottom + 1) below = std::min(below, at(over - 1).diagonal[t_]);
    int32_t room = std::min(most - sent, below);
    if (room == 0) break;
    const int32_t entered = room;
    Level& crossing = at(over);
    for (int w = low_; w < high_ && room > 0; ++w) {
      uint64_t open = line(at(k).open, u)[w] & crossing.column_live[static_cast<size_t>(w)];
      while (open && room > 0) {
        const int c = w * blocks_of_a_word + block_with(first_of(open));
        open &= ~(uint64_t{0xffff} << shift_of_block(c));
        const int j = c * flow_block;
        const Block column = load_block(crossing.column.data() + j);
        Block amount = smaller(load_block(arcs + j), column);
        for (int l = over + 1; l < k; ++l)
          amount = smaller(amount, load_block(at(l).diagonal.data() + j));
        if (const Bits wide = less(repeated(room - 1), amount)) {
          const int v = j + first_of(wide);
          take_arc(k, u, v, room);
          if ((crossing.column[v] -= room) == 0) drop(crossing.column_live.data(), v);
          for (int l = over + 1; l < k; ++l) at(l).diagonal[v] -= room;
          room = 0;
          break;
        }
        int32_t total = sum_of(amount);
        if (total == 0) continue;
        if (total > room) {
          amount = at_most(amount, room);
          total = room;
        }
        take_arcs(k, u, c, amount);
        const Block rest = minus(column, amount);
        store_block(rest, crossing.column.data() + j);
        set_block(crossing.column_live.data(), c, positive(rest));
        for (int l = over + 1; l < k; ++l) take(amount, at(l).diagonal.data() + j);
        room -= total;
      }
    }
    take_down_column(over - 1, entered - room);
    below -= entered - room;
    sent += entered - room;
  }
  return sent;
}

// Drops the nodes of levels up to k that can pass nothing down from those that may.
void Solver::refresh_live(int k) {
  failed_ = 0;
  for (int l = task_.bottom + 1; l <= k; ++l) {
    Level& level = at(l);
    const uint64_t* below = at(l - 1).live.data();
    const bool column = has(below, t_);
    for (int w = low_; w < high_; ++w) {
      const size_t x = static_cast<size_t>(w);
      if (!level.live[x]) continue;
      uint64_t good = column ? level.column_live[x] : 0;
      const int first = w * blocks_of_a_word;
      for (int c = first; c < std::min(first + blocks_of_a_word, end_); ++c)
        good |= below[w] & uint64_t{positive(load_block(level.diagonal.data() + c * flow_block))}
                               << shift_of_block(c);
      const uint64_t asked = level.live[x] & ~good;
      if (asked) good |= rows_meeting(line(level.open, w * word_bits), words_, below, asked);
      level.live[x] &= good;
    }
  }
}

int32_t Solver::push(int k, int u, int32_t most) {
  if (k == task_.bottom) {
    const int32_t p = std::min(most, room_[u]);
    room_[u] -= p;
    if (room_[u] == 0) drop(at(k).live.data(), u);
    return p;
  }
  Level& level = at(k);
  int32_t left = most;
  const auto down = [&](int v, int32_t& arc) {
    const int32_t x = std::min(left, arc);
    if (x <= 0 || !has(at(k - 1).live.data(), v)) return;
    const int32_t p = push(k - 1, v, x);
    arc -= p;
    left -= p;
  };
  if (u != t_) down(t_, level.column[u]);
  if (own_chain_first_ && left > 0) down(u, level.diagonal[u]);
  if (left > 0) left -= push_row(k, u, left);
  if (left > 0 && k > task_.bottom + 1 && u != t_) left -= push_row_into_column(k, u, left);
  if (!own_chain_first_ && left > 0) down(u, level.diagonal[u]);
  // What is left goes arc by arc through nodes that are not yet known to be exhausted.
  if (k > task_.bottom + 1) {
    int32_t* arcs = row(k, u);
    const uint64_t* open = line(level.open, u);
    const uint64_t* live = at(k - 1).live.data();
    if (left > 0 && failed_ >= most_failed()) refresh_live(k - 1);
    for (int w = low_; w < high_ && left > 0; ++w)
      for (uint64_t bits = open[w] & live[w]; bits && left > 0; bits &= bits - 1) {
        const int v = w * word_bits + first_of(bits);
        const int32_t p = push(k - 1, v, std::min(left, arcs[v]));
        if (p == 0) {
          if (++failed_ < most_failed()) continue;
          refresh_live(k - 1);
          bits &= live[w] | (bits & -bits);
          continue;
        }
        take_arc(k, u, v, p);
        left -= p;
      }
  }
  if (left > 0) drop(level.live.data(), u);
  return most - left;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
