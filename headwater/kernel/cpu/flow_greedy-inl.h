// The flow solver's first part: a greedy flow, sixteen chains at a time.
#if defined(HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#endif

#include <algorithm>

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

void Solver::take_down_column(int k, int32_t amount) {
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
      at(k).column_live[static_cast<size_t>(c)] =
          static_cast<uint16_t>(positive(load_block(at(k).column.data() + j)));
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
  if (x <= 0) return 0;
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
    const Block limits = repeated(heavy);
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
int32_t Solver::push_row(int k, int u, int32_t most) {
  int32_t sent = 0;
  int32_t* arcs = row(k, u);
  const std::vector<uint16_t>& live = at(task_.bottom).live;
  const int end = row_end(u);
  for (int c = begin_; c < end; ++c) {
    if (!live[static_cast<size_t>(c)]) continue;
    const int j = c * flow_block;
    const Block room = load_block(room_.data() + j);
    Block amount = smaller(load_block(arcs + j), room);
    for (int l = task_.bottom + 1; l < k; ++l)
      amount = smaller(amount, load_block(at(l).diagonal.data() + j));
    int32_t total = sum_of(amount);
    if (total == 0) continue;
    if (total > most - sent) {
      amount = at_most(amount, most - sent);
      total = most - sent;
    }
    save(k, u, arcs + j);
    take(amount, arcs + j);
    const Block left = minus(room, amount);
    store_block(left, room_.data() + j);
    at(task_.bottom).live[static_cast<size_t>(c)] = static_cast<uint16_t>(positive(left));
    for (int l = task_.bottom + 1; l < k; ++l) take(amount, at(l).diagonal.data() + j);
    sent += total;
    if (sent == most) break;
  }
  return sent;
}

// Row u of level k, then down the chains, then over into the column's chain.
int32_t Solver::push_row_into_column(int k, int u, int32_t most) {
  int32_t sent = 0;
  int32_t* arcs = row(k, u);
  const int end = row_end(u);
  for (int over = task_.bottom + 1; over < k && sent < most; ++over) {
    int32_t room = std::min(most - sent, column_room(over - 1));
    if (room == 0) break;
    Level& crossing = at(over);
    for (int c = begin_; c < end && room > 0; ++c) {
      if (!crossing.column_live[static_cast<size_t>(c)]) continue;
      const int j = c * flow_block;
      const Block column = load_block(crossing.column.data() + j);
      Block amount = smaller(load_block(arcs + j), column);
      for (int l = over + 1; l < k; ++l)
        amount = smaller(amount, load_block(at(l).diagonal.data() + j));
      int32_t total = sum_of(amount);
      if (total == 0) continue;
      if (total > room) {
        amount = at_most(amount, room);
        total = room;
      }
      save(k, u, arcs + j);
      take(amount, arcs + j);
      const Block rest = minus(column, amount);
      store_block(rest, crossing.column.data() + j);
      crossing.column_live[static_cast<size_t>(c)] = static_cast<uint16_t>(positive(rest));
      for (int l = over + 1; l < k; ++l) take(amount, at(l).diagonal.data() + j);
      take_down_column(over - 1, total);
      room -= total;
      sent += total;
    }
  }
  return sent;
}

int32_t Solver::push(int k, int u, int32_t most) {
  if (k == task_.bottom) {
    const int32_t p = std::min(most, room_[u]);
    room_[u] -= p;
    if (room_[u] == 0) clear(at(k).live, u);
    return p;
  }
  Level& level = at(k);
  int32_t left = most;
  const auto down = [&](int v, int32_t& arc) {
    const int32_t x = std::min(left, arc);
    if (x <= 0 || !has(at(k - 1).live, v)) return;
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
    const int end = row_end(u);
    int c = level.next[static_cast<size_t>(u)];
    for (; c < end && left > 0; ++c) {
      const int j = c * flow_block;
      Bits bits = positive(load_block(arcs + j)) & at(k - 1).live[static_cast<size_t>(c)];
      for (; bits && left > 0; bits &= bits - 1) {
        const int v = j + first_of(bits);
        const int32_t x = std::min(left, arcs[v]);
        const int32_t p = push(k - 1, v, x);
        if (p == 0) continue;
        save(k, u, arcs + j);
        arcs[v] -= p;
        left -= p;
      }
      if (left == 0) break;
    }
    level.next[static_cast<size_t>(u)] = static_cast<int16_t>(c);
  }
  if (left > 0) clear(level.live, u);
  return most - left;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
