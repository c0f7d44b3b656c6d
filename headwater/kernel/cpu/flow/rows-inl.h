// The flow solver's steps along one row: sixteen arcs at a time, then down the chains below them.
#if defined(HEADWATER_KERNEL_CPU_FLOW_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_ROWS_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_ROWS_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_ROWS_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

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

// How much the chain of the column can take from (k, t) down.
HWY_INLINE int32_t Solver::column_room(int k) const {
  int32_t room = room_[t_];
  for (int j = task_.bottom + 1; j <= k; ++j)
    room = std::min(room, chains_[static_cast<size_t>(j)][t_]);
  return room;
}

HWY_INLINE void Solver::take_down_column(int k, int32_t amount) {
  room_[t_] -= amount;
  for (int j = task_.bottom + 1; j <= k; ++j) chains_[static_cast<size_t>(j)][t_] -= amount;
}

// Pushes from (k, u) straight across to the column's chain.
HWY_INLINE int32_t Solver::cross_over(int k, int u, int32_t most) {
  Level& level = at(k);
  if (level.column[u] == 0) return 0;
  const int32_t sent = std::min({most, level.column[u], column_room(k - 1)});
  if ((level.column[u] -= sent) == 0) drop(level.column_live.data(), u);
  take_down_column(k - 1, sent);
  return sent;
}

// Pushes along row u of level k, sixteen arcs at a time, each as far down its chain as it goes.
HWY_INLINE int32_t Solver::push_row(int k, int u, int32_t most) {
  int32_t sent = 0;
  const Row row = row_of(k, u);
  uint64_t* live = at(task_.bottom).live.data();
  for (int w = low_; w < high_; ++w) {
    uint64_t open = row.open[w] & live[w] & ~row.apart[w];
    while (open) {
      const int c = w * blocks_of_a_word + block_with(first_of(open));
      open &= ~(uint64_t{0xffff} << shift_of_block(c));
      const int j = c * flow_block;
      const Block room = load_block(room_.data() + j);
      Block amount = through_chains(smaller(block_of_row(row, c), room), j, task_.bottom + 1, k);
      // If one arc takes all of it, use that arc.
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
      take_arcs(row, c, amount);
      const Block left = minus(room, amount);
      store_block(left, room_.data() + j);
      set_block(live, c, positive(left));
      take_chains(amount, j, task_.bottom + 1, k);
      sent += total;
      if (sent == most) return sent;
    }
  }
  return sent;
}

// Pushes along row u of level k, down the chains, then across to the column's chain, the highest
// arcs first.
HWY_INLINE int32_t Solver::push_row_into_column(int k, int u, int32_t most) {
  if (room_[t_] == 0) return 0;
  int32_t sent = 0;
  const Row row = row_of(k, u);
  for (int over = k - 1; over > task_.bottom && sent < most; --over) {
    int32_t room = std::min(most - sent, column_room(over - 1));
    if (room == 0) continue;
    const int32_t entered = room;
    Level& crossing = at(over);
    for (int w = low_; w < high_ && room > 0; ++w) {
      uint64_t open = row.open[w] & crossing.column_live[static_cast<size_t>(w)] & ~row.apart[w];
      while (open && room > 0) {
        const int c = w * blocks_of_a_word + block_with(first_of(open));
        open &= ~(uint64_t{0xffff} << shift_of_block(c));
        const int j = c * flow_block;
        const Block column = load_block(crossing.column.data() + j);
        Block amount = through_chains(smaller(block_of_row(row, c), column), j, over + 1, k);
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
        take_arcs(row, c, amount);
        const Block rest = minus(column, amount);
        store_block(rest, crossing.column.data() + j);
        set_block(crossing.column_live.data(), c, positive(rest));
        take_chains(amount, j, over + 1, k);
        room -= total;
      }
    }
    take_down_column(over - 1, entered - room);
    sent += entered - room;
  }
  return sent;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_ROWS_INL_H
