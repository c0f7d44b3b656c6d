// The flow solver's second part: Dinic's phases on the residual network after the greedy flow. A
// phase ends early when most of its attempts lead nowhere: labelling all nodes again, by bits, is
// faster than to leave such nodes one by one. Every phase sends something, so this ends.
#if defined(HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

int32_t Solver::search(int32_t most) {
  chain_bits();
  for (int32_t sent = 0; sent < most;) {
    if (!label()) {
      cut_ = true;
      return sent;
    }
    sent += augment(most - sent);
    if (sent == most) return sent;
  }
  return most;
}

// Sets the bits of the diagonals and columns; the greedy flow keeps only their numbers.
void Solver::chain_bits() {
  for (int k = task_.bottom + 1; k < task_.top; ++k) {
    Level& level = at(k);
    std::ranges::fill(level.used_in_known, uint8_t{0});
    const int32_t* full = network_.diagonals[static_cast<size_t>(k)];
    for (int c = begin_; c < end_; ++c) {
      const int j = c * flow_block;
      const Block diagonal = load_block(level.diagonal.data() + j);
      const Block column = load_block(level.column.data() + j);
      set_block(level.diagonal_open.data(), c, positive(diagonal));
      set_block(level.diagonal_used.data(), c, less(diagonal, load_block(full + j)));
      set_block(level.column_live.data(), c, positive(column));
      set_block(level.column_used.data(), c,
                less(column, load_block(level.column_full.data() + j)));
    }
    if (!level.collectors.empty()) collector_bits(k);
  }
}

// The same for the arcs into collectors.
void Solver::collector_bits(int k) {
  if (network_.columns) network_.columns->transpose(k);
  const size_t count = collectors_.node.size() * static_cast<size_t>(words_);
  if (collectors_.open.size() < count) {
    collectors_.open.resize(2 * count);
    collectors_.used.resize(2 * count);
  }
  for (size_t x : at(k).collectors) {
    const int v = collectors_.node[x];
    const int32_t* column = column_of(k, v);
    uint64_t *open = line(collectors_.open, x), *used = line(collectors_.used, x);
    std::fill_n(open, words_, 0);
    std::fill_n(used, words_, 0);
    for (int c = begin_; c < end_; ++c) {
      const Block left = load_block(collected(k, x, c));
      const Block all = column ? load_block(column + c * flow_block) : capacities_into(k, v, c);
      open[word_of_block(c)] |= uint64_t{positive(left)} << shift_of_block(c);
      used[word_of_block(c)] |= uint64_t{less(left, all)} << shift_of_block(c);
    }
  }
}

// The capacities of sixteen arcs into (k - 1, v), if the network has no columns.
Block Solver::capacities_into(int k, int v, int c) const {
  HWY_ALIGN int32_t numbers[flow_block] = {};
  for (int x = 0; x < flow_block; ++x)
    if (const int u = c * flow_block + x; u < n_ && u != v) numbers[x] = network_.row(k, u)[v];
  return load_block(numbers);
}

// Labels nodes by their distance to the sink, front by front, until it reaches a supply that is not
// used up. False if it reaches none: the labelled nodes are then the sink side of a minimum cut.
bool Solver::label() {
  const size_t step = static_cast<size_t>((task_.top - task_.bottom) * words_);
  if (fronts_.size() < 4 * step) fronts_.resize(4 * step);
  std::fill_n(front(1, task_.bottom), step, 0);
  std::ranges::fill(supplied_, 0);
  for (int c = begin_; c < end_; ++c) {
    const int j = c * flow_block;
    set_block(front(1, task_.bottom), c, positive(load_block(room_.data() + j)));
    set_block(supplied_.data(), c, positive(load_block(supply_.data() + j)));
  }
  for (int k = task_.bottom + 1; k < task_.top; ++k)
    if (at(k).surplus > 0) add(front(1, k), task_.source);
  const int last = std::min(n_, end_ * flow_block);
  for (int k = task_.bottom; k < task_.top; ++k) {
    uint64_t* unseen = at(k).unseen.data();
    std::fill_n(unseen, words_, 0);
    for (int c = begin_; c < end_; ++c)
      set_block(unseen, c, (1u << std::min(flow_block, last - c * flow_block)) - 1);
    for (int w = low_; w < high_; ++w) unseen[w] &= ~front(1, k)[w];
  }
  for (int d = 1;; ++d) {
    for (int w = low_; w < high_; ++w) {
      if (!(front(d, task_.top - 1)[w] & supplied_[static_cast<size_t>(w)])) continue;
      source_distance_ = d;
      return true;
    }
    if (fronts_.size() < static_cast<size_t>(d + 2) * step) fronts_.resize(2 * fronts_.size());
    std::fill_n(front(d + 1, task_.bottom), step, 0);
    for (int k = task_.bottom; k < task_.top; ++k) {
      uint64_t any = 0;
      for (int w = low_; w < high_; ++w) any |= front(d, k)[w];
      if (any && k + 1 < task_.top) label_above(k, d);
      if (any && k > task_.bottom) label_below(k, d);
    }
    uint64_t any = 0;
    for (int k = task_.bottom; k < task_.top; ++k) {
      uint64_t* fresh = front(d + 1, k);
      uint64_t* unseen = at(k).unseen.data();
      for (int w = low_; w < high_; ++w) {
        fresh[w] &= unseen[w];
        unseen[w] ^= fresh[w];
        any |= fresh[w];
      }
    }
    if (!any) return false;
  }
}

// Labels nodes above that have capacity left on an arc into the front of level k.
void Solver::label_above(int k, int d) {
  Level& above = at(k + 1);
  const uint64_t* from = front(d, k);
  uint64_t* to = front(d + 1, k + 1);
  const bool column = has(from, t_);
  each_collector(k + 1, from, [&](size_t x) {
    const uint64_t* open = line(collectors_.open, x);
    for (int w = low_; w < high_; ++w) to[w] |= open[w];
  });
  const uint64_t* others = without_collectors(k + 1, from);
  const bool any = std::any_of(others + low_, others + high_, [](uint64_t x) { return x != 0; });
  for (int w = low_; w < high_; ++w) {
    const size_t x = static_cast<size_t>(w);
    to[w] |= from[w] & above.diagonal_open[x];
    if (column) to[w] |= above.column_live[x];
    const uint64_t asked = any ? above.unseen[x] & ~to[w] : 0;
    if (asked) to[w] |= rows_meeting(line(above.open, w * word_bits), words_, others, asked);
  }
}

// Labels nodes below that receive flow from the front of level k, which can send it elsewhere.
void Solver::label_below(int k, int d) {
  Level& level = at(k);
  const uint64_t* from = front(d, k);
  uint64_t* to = front(d + 1, k - 1);
  uint64_t over = 0;
  for (int w = low_; w < high_; ++w) {
    const size_t x = static_cast<size_t>(w);
    to[w] |= from[w] & level.diagonal_used[x];
    over |= from[w] & level.column_used[x];
    for (uint64_t bits = from[w]; bits; bits &= bits - 1) {
      const int u = w * word_bits + first_of(bits);
      if (!level.is_changed[static_cast<size_t>(u)]) continue;
      const uint64_t* used = line(level.used, u);
      for (int e = low_; e < high_; ++e)
        to[e] |= used[e] & ~level.is_collector[static_cast<size_t>(e)];
    }
  }
  if (over) add(to, t_);
  for (size_t x : level.collectors) {
    const uint64_t* used = line(collectors_.used, x);
    uint64_t any = 0;
    for (int w = low_; w < high_; ++w) any |= from[w] & used[w];
    if (any) add(to, collectors_.node[x]);
  }
}

// Which of 64 nodes of level k send flow to (k - 1, v) along their rows.
uint64_t Solver::senders(int k, int v, int w, uint64_t asked) {
  Level& level = at(k);
  if (words_ <= most_short) {
    uint64_t single[most_short] = {};
    add(single, v);
    return rows_meeting(line(level.used, w * word_bits), words_, single, asked);
  }
  const int x = v / word_bits;
  uint8_t& known = level.used_in_known[static_cast<size_t>(x * words_ + w)];
  constexpr int few = 16;  // looked up one by one in less time than 64 rows are transposed
  if (!known && hwy::PopCount(asked) <= few) {
    uint64_t out = 0;
    for (uint64_t bits = asked; bits; bits &= bits - 1)
      if (has(line(level.used, w * word_bits + first_of(bits)), v)) out |= bits & -bits;
    return out;
  }
  if (!known) {
    known = 1;
    uint64_t square[word_bits];
    for (int r = 0; r < word_bits; ++r) square[r] = line(level.used, w * word_bits + r)[x];
    transpose(square);
    for (int r = 0; r < word_bits; ++r) line(level.used_in, x * word_bits + r)[w] = square[r];
  }
  return line(level.used_in, v)[w] & asked;
}

int32_t Solver::augment(int32_t most) {
  int32_t sent = 0;
  failed_ = 0;
  const int k = task_.top - 1, d = source_distance_;
  for (int w = low_; w < high_; ++w)
    for (uint64_t bits = supplied_[static_cast<size_t>(w)] & front(d, k)[w]; bits;
         bits &= bits - 1) {
      const int u = w * word_bits + first_of(bits);
      const int32_t p = advance(k, u, d, std::min(supply_[u], most - sent));
      supply_[u] -= p;
      sent += p;
      if (sent == most || lost()) return sent;
    }
  return sent;
}

// Adds `amount` to the flow on the arc (k, u) -> (k - 1, v).
void Solver::use(int k, int u, int v, int32_t amount) {
  Level& level = at(k);
  const auto follow = [&](int32_t& arc, int32_t full, uint64_t* open, uint64_t* used, int x) {
    arc -= amount;
    arc > 0 ? add(open, x) : drop(open, x);
    arc < full ? add(used, x) : drop(used, x);
  };
  if (u == v) {
    follow(level.diagonal[u], network_.diagonals[static_cast<size_t>(k)][u],
           level.diagonal_open.data(), level.diagonal_used.data(), u);
  } else if (v == t_) {
    follow(level.column[u], level.column_full[u], level.column_live.data(),
           level.column_used.data(), u);
  } else if (has(level.is_collector.data(), v)) {
    const size_t x = level.place[static_cast<size_t>(v)];
    follow(collected_from(k, x, u), capacity(k, u, v), line(collectors_.open, x),
           line(collectors_.used, x), u);
  } else {
    change(k, u);
    int32_t& arc = row(k, u)[v];
    const int32_t full = network_.row(k, u)[v];
    steps_.push_back({&arc, amount});
    const bool before = arc < full;
    follow(arc, full, line(level.open, u), line(level.used, u), v);
    if (words_ > most_short && before != (arc < full) &&
        level.used_in_known[static_cast<size_t>(v / word_bits * words_ + u / word_bits)])
      line(level.used_in, v)[u / word_bits] ^= bit_of(u);
  }
}

// Pushes up to `most` from (k, u) along arcs on which the distance falls by one.
int32_t Solver::advance(int k, int u, int d, int32_t most) {
  if (d == 1) {
    int32_t& room = k == task_.bottom ? room_[u] : at(k).surplus;
    const int32_t sent = std::min(most, room);
    room -= sent;
    if (room == 0) drop(front(1, k), u);
    return sent;
  }
  int32_t sent = k > task_.bottom ? advance_down(k, u, d, most) : 0;
  if (sent < most && k + 1 < task_.top) sent += advance_up(k, u, d, most - sent);
  if (sent < most) drop(front(d, k), u);
  failed_ += sent == 0;
  return sent;
}

// The same along arcs with capacity left.
int32_t Solver::advance_down(int k, int u, int d, int32_t most) {
  Level& level = at(k);
  const uint64_t* next = front(d - 1, k - 1);
  int32_t left = most;
  const auto down = [&](int v, int32_t arc) {
    const int32_t sent = advance(k - 1, v, d - 1, std::min(left, arc));
    if (sent == 0) return;
    use(k, u, v, sent);
    left -= sent;
  };
  if (u != t_ && has(next, t_) && level.column[u] > 0) down(t_, level.column[u]);
  if (left > 0 && has(next, u) && level.diagonal[u] > 0) down(u, level.diagonal[u]);
  each_collector(k, next, [&](size_t x) {
    if (left == 0 || lost() || !has(next, collectors_.node[x])) return;
    if (const int32_t arc = collected_from(k, x, u); arc > 0) down(collectors_.node[x], arc);
  });
  const uint64_t* open = line(level.open, u);
  const uint64_t* apart = level.is_collector.data();
  for (int w = low_; w < high_ && left > 0; ++w)
    for (uint64_t bits; left > 0 && !lost() && (bits = open[w] & next[w] & ~apart[w]) != 0;) {
      const int v = w * word_bits + first_of(bits);
      down(v, row(k, u)[v]);
    }
  return most - left;
}

// The same back up arcs that carry flow; that flow then takes another way.
int32_t Solver::advance_up(int k, int u, int d, int32_t most) {
  Level& above = at(k + 1);
  const uint64_t* next = front(d - 1, k + 1);
  int32_t left = most;
  const auto up = [&](int w, int32_t carried) {
    const int32_t sent = advance(k + 1, w, d - 1, std::min(left, carried));
    if (sent == 0) return;
    use(k + 1, w, u, -sent);
    left -= sent;
  };
  if (has(next, u) && has(above.diagonal_used.data(), u))
    up(u, network_.diagonals[static_cast<size_t>(k) + 1][u] - above.diagonal[u]);
  if (u == t_) {
    for (int w = low_; w < high_ && left > 0; ++w)
      for (uint64_t bits; left > 0 && !lost() &&
                          (bits = above.column_used[static_cast<size_t>(w)] & next[w]) != 0;) {
        const int from = w * word_bits + first_of(bits);
        up(from, above.column_full[from] - above.column[from]);
      }
    return most - left;
  }
  if (has(above.is_collector.data(), u)) {
    const size_t x = above.place[static_cast<size_t>(u)];
    const uint64_t* used = line(collectors_.used, x);
    for (int w = low_; w < high_ && left > 0; ++w)
      for (uint64_t bits; left > 0 && !lost() && (bits = used[w] & next[w]) != 0;) {
        const int from = w * word_bits + first_of(bits);
        up(from, capacity(k + 1, from, u) - collected_from(k + 1, x, from));
      }
    return most - left;
  }
  if (left == 0) return most;
  for (int w = low_; w < high_ && left > 0; ++w) {
    if (!next[w]) continue;
    for (uint64_t bits = senders(k + 1, u, w, next[w]); left > 0 && !lost() && (bits &= next[w]);
         bits &= bits - 1) {
      const int sender = w * word_bits + first_of(bits);
      const int32_t carried = network_.row(k + 1, sender)[u] - row(k + 1, sender)[u];
      if (carried > 0) up(sender, carried);
    }
  }
  return most - left;
}

std::unique_ptr<FlowSolver> make_solver(const FlowNetwork& network) {
  return std::make_unique<Solver>(network);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
