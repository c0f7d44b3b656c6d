// The flow solver's first part: a greedy flow, sixteen chains at a time.
#if defined(HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/rows-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Sends every supply down its own chain to the demand below it.
int32_t Solver::straight_down(int32_t most) {
  int32_t sent = 0;
  for (int c = begin_; c < end_ && sent < most; ++c) {
    const int j = c * flow_block;
    Block amount = smaller(load_block(supply_.data() + j), load_block(room_.data() + j));
    amount = through_chains(amount, j, task_.bottom + 1, task_.top);
    int32_t total = sum_of(amount);
    if (total == 0) continue;
    if (total > most - sent) {
      amount = at_most(amount, most - sent);
      total = most - sent;
    }
    take(amount, supply_.data() + j);
    take(amount, room_.data() + j);
    take_chains(amount, j, task_.bottom + 1, task_.top);
    sent += total;
  }
  return sent;
}

// Sends every supply down its own chain and across to the column's chain, the highest arcs first:
// the higher an arc, the fewer supplies can reach it.
int32_t Solver::into_column(int32_t most) {
  int32_t sent = 0;
  for (int k = task_.top - 1; k > task_.bottom && sent < most; --k) {
    int32_t room = std::min(most - sent, column_room(k - 1));
    if (room == 0) continue;
    for (int c = begin_; c < end_ && room > 0; ++c) {
      const int j = c * flow_block;
      Block amount = smaller(load_block(supply_.data() + j), load_block(at(k).column.data() + j));
      amount = through_chains(amount, j, k + 1, task_.top);
      int32_t total = sum_of(amount);
      if (total == 0) continue;
      if (total > room) {
        amount = at_most(amount, room);
        total = room;
      }
      take(amount, supply_.data() + j);
      take(amount, at(k).column.data() + j);
      set_block(at(k).column_live.data(), c, positive(load_block(at(k).column.data() + j)));
      take_chains(amount, j, k + 1, task_.top);
      take_down_column(k - 1, total);
      room -= total;
      sent += total;
    }
  }
  return sent;
}

// Removes nodes of levels up to k from `live` if they can pass nothing down any more.
void Solver::refresh_live(int k) {
  failed_ = 0;
  for (int l = task_.bottom + 1; l <= k; ++l) {
    Level& level = at(l);
    const uint64_t* below = at(l - 1).live.data();
    const uint64_t* others = without_collectors(l, below);
    const bool column = has(below, t_);
    for (int w = low_; w < high_; ++w) {
      const size_t x = static_cast<size_t>(w);
      if (!level.live[x]) continue;
      uint64_t good = column ? level.column_live[x] : 0;
      const int first = w * blocks_of_a_word;
      for (int c = first; c < std::min(first + blocks_of_a_word, end_); ++c)
        good |= below[w] & uint64_t{positive(load_block(level.diagonal.data() + c * flow_block))}
                               << shift_of_block(c);
      each_collector(l, below, [&](size_t place) {
        for (int c = first; c < std::min(first + blocks_of_a_word, end_); ++c)
          good |= uint64_t{positive(load_block(collected(l, place, c)))} << shift_of_block(c);
      });
      const uint64_t asked = level.live[x] & ~good;
      if (asked) good |= rows_meeting(line(level.open, w * word_bits), words_, others, asked);
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
  left -= cross_over(k, u, left);
  if (own_chain_first_ && left > 0) down(u, level.diagonal[u]);
  if (left > 0 && k > task_.bottom + 1 && u != t_) left -= push_row_into_column(k, u, left);
  if (left > 0) left -= push_row(k, u, left);
  if (!own_chain_first_ && left > 0) down(u, level.diagonal[u]);
  if (left > 0)
    each_collector(k, at(k - 1).live.data(), [&](size_t x) {
      if (left > 0) down(collectors_.node[x], collected_from(k, x, u));
    });
  // The rest goes arc by arc through nodes that are not yet known to be exhausted.
  if (k > task_.bottom + 1) {
    int32_t* arcs = row(k, u);
    const uint64_t* open = line(level.open, u);
    const uint64_t* live = at(k - 1).live.data();
    const uint64_t* apart = level.is_collector.data();
    if (left > 0 && failed_ >= most_failed()) refresh_live(k - 1);
    for (int w = low_; w < high_ && left > 0; ++w)
      for (uint64_t bits = open[w] & live[w] & ~apart[w]; bits && left > 0; bits &= bits - 1) {
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

// Pushes the rest of supply u, at most `most`.
int32_t Solver::push_supply(int u, int32_t most) {
  const int32_t x = std::min(supply_[u], most);
  if (x <= 0 || !has(at(task_.top - 1).live.data(), u)) return 0;
  const int32_t sent = push(task_.top - 1, u, x);
  supply_[u] -= sent;
  return sent;
}

// Pushes down u's own chain from level k, across to the column's chain wherever possible, and along
// the rows of the nodes on the way, lowest first.
int32_t Solver::push_own_rows(int k, int u, int32_t most) {
  if (k == task_.bottom) return push(k, u, most);
  Level& level = at(k);
  int32_t left = most - cross_over(k, u, most);
  if (const int32_t x = std::min(left, level.diagonal[u]); x > 0) {
    const int32_t sent = push_own_rows(k - 1, u, x);
    level.diagonal[u] -= sent;
    left -= sent;
  }
  if (left > 0 && k > task_.bottom + 1 && u != t_) left -= push_row_into_column(k, u, left);
  if (left > 0) left -= push_row(k, u, left);
  return most - left;
}

// Large supplies have the least choice, so they go first, the largest before the others. If part of
// one is needed regardless of what the others send, that part goes arc by arc at once.
int32_t Solver::largest_first(int32_t most) {
  find_large();
  int64_t all = 0;
  for (int c = begin_; c < end_; ++c) all += sum_of(load_block(supply_.data() + c * flow_block));
  int32_t sent = 0;
  const auto send = [&](int u) {
    if (supply_[u] == 0 || sent == most) return;
    int32_t gone = push_own_rows(task_.top - 1, u, std::min(supply_[u], most - sent));
    supply_[u] -= gone;
    const int64_t others = all - gone - supply_[u];
    if (const int64_t must = most - sent - gone - others; must > 0 && supply_[u] > 0) {
      own_chain_first_ = true;
      gone += push_supply(u, static_cast<int32_t>(std::min<int64_t>(must, supply_[u])));
      own_chain_first_ = false;
    }
    all -= gone;
    sent += gone;
  };
  send(task_.column);
  send(task_.source);
  for (int u : large_) send(u);
  // In a raised flow, part of the flow down the source's chain is a surplus that no supply feeds.
  const bool can_relieve = task_.top - 1 > task_.bottom && !network_.causal;
  return sent < most && can_relieve ? sent + relieve(most - sent) : sent;
}

// Large supplies that are not used up feed the chains of the others, so that those can use more of
// their own rows, which no one else reaches.
int32_t Solver::relieve(int32_t most) {
  const int k = task_.top - 1;
  Level& level = at(k);
  rich_.clear();
  for (int u : large_)
    if (supply_[u] > 0) rich_.push_back(u);
  int32_t sent = 0;
  for (int u : large_) {
    if (sent == most) break;
    if (rich_.empty() || u == rich_.front()) continue;
    const int32_t fed = network_.diagonals[static_cast<size_t>(k)][u] - level.diagonal[u];
    int32_t freed = 0;
    for (size_t x = 0; x < rich_.size() && freed < fed; ++x) {
      const int32_t over = std::min({fed - freed, supply_[rich_[x]], row(k, rich_[x])[u]});
      if (over == 0) continue;
      take_arc(k, rich_[x], u, over);
      supply_[rich_[x]] -= over;
      freed += over;
    }
    if (freed == 0) continue;
    level.diagonal[u] += freed;
    const int32_t asked = std::min(freed, most - sent);
    int32_t left = asked;
    if (k > task_.bottom + 1 && u != t_) left -= push_row_into_column(k, u, left);
    if (left > 0) left -= push_row(k, u, left);
    supply_[u] += freed - (asked - left);
    sent += asked - left;
  }
  return sent;
}

// The supplies of at least 1/64 by size, then the other large ones.
void Solver::find_large() {
  large_.clear();
  const auto find = [&](int32_t above, int32_t most) {
    for (int c = begin_; c < end_; ++c) {
      const Block supply = load_block(supply_.data() + c * flow_block);
      for (Bits bits = less(repeated(above), supply) & ~less(repeated(most), supply); bits;
           bits &= bits - 1)
        large_.push_back(c * flow_block + first_of(bits));
    }
  };
  find(large_anyway, flow_unit);
  std::ranges::sort(large_, [&](int a, int b) { return supply_[a] > supply_[b]; });
  if (large_from_ < large_anyway) find(large_from_, large_anyway);
}

int32_t Solver::node_by_node(int32_t most) {
  int32_t sent = 0;
  for (int c = begin_; c < end_ && sent < most; ++c)
    for (Bits bits = positive(load_block(supply_.data() + c * flow_block)); bits; bits &= bits - 1)
      sent += push_supply(c * flow_block + first_of(bits), most - sent);
  return sent;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_GREEDY_INL_H
