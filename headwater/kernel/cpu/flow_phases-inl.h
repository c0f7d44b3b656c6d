// The flow solver's second part: Dinic's phases on the residual network that the greedy flow left.
#if defined(HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_PHASES_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow_blocks-inl.h"
#include "headwater/kernel/cpu/flow_solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

void Solver::clear_labels() {
  const int first = begin_ * flow_block, count = (end_ - begin_) * flow_block;
  for (int k = task_.bottom; k < task_.top; ++k) {
    Level& level = at(k);
    std::fill_n(level.distance.data(), level.distance.size(), far);
    std::fill_n(level.parent_count.begin() + first, count, uint8_t{0});
    for (int c = begin_; c < end_; ++c) {
      const size_t b = static_cast<size_t>(c);
      level.front[b] = level.next_front[b] = 0;
      const int real = std::min(flow_block, n_ - c * flow_block);
      level.unseen[b] = static_cast<uint16_t>((1u << real) - 1);
    }
  }
}

// Whether a supply that is left lies on the front.
bool Solver::source_reached() const {
  for (int c = begin_; c < end_; ++c)
    if (at(task_.top - 1).front[static_cast<size_t>(c)] &
        positive(load_block(supply_.data() + c * flow_block)))
      return true;
  return false;
}

// Labels nodes by their distance to the sink, from the sink, until the source's side is reached.
// False if it is not: then the labelled nodes are the sink side of a minimum cut.
bool Solver::label() {
  clear_labels();
  bool any = false;
  Level& lowest = at(task_.bottom);
  for (int c = begin_; c < end_; ++c) {
    const size_t b = static_cast<size_t>(c);
    const Bits bits = positive(load_block(room_.data() + c * flow_block));
    lowest.front[b] = static_cast<uint16_t>(bits);
    lowest.unseen[b] &= static_cast<uint16_t>(~bits);
    any |= bits != 0;
    for (Bits rest = bits; rest; rest &= rest - 1)
      lowest.distance[c * flow_block + first_of(rest)] = 1;
  }
  for (int d = 1; any; ++d) {
    if (source_reached()) {
      source_distance_ = d;
      return true;
    }
    any = false;
    for (int k = task_.bottom; k < task_.top; ++k) {
      const std::vector<uint16_t>& front = at(k).front;
      if (std::all_of(front.begin() + begin_, front.begin() + end_,
                      [](uint16_t bits) { return bits == 0; }))
        continue;
      if (k + 1 < task_.top) any |= label_above(k, d);
      if (k > task_.bottom) any |= label_below(k, d);
    }
    for (int k = task_.bottom; k < task_.top; ++k) {
      Level& level = at(k);
      std::swap(level.front, level.next_front);
      std::fill(level.next_front.begin() + begin_, level.next_front.begin() + end_, uint16_t{0});
    }
  }
  return false;
}

// Nodes above with capacity left on an arc into the front of level k.
bool Solver::label_above(int k, int d) {
  const Level& level = at(k);
  Level& above = at(k + 1);
  const bool column = has(level.front, t_);
  bool any = false;
  for (int c = begin_; c < end_; ++c) {
    const size_t b = static_cast<size_t>(c);
    const int j = c * flow_block;
    const Bits open = above.unseen[b];
    if (!open) continue;
    Bits found = open & level.front[b] & positive(load_block(above.diagonal.data() + j));
    if (column) found |= open & positive(load_block(above.column.data() + j));
    for (Bits rest = open & ~found; rest; rest &= rest - 1) {
      const int w = j + first_of(rest);
      const int32_t* arcs = row(k + 1, w);
      const int end = row_end(w);
      for (int e = begin_; e < end; ++e) {
        const Bits front = level.front[static_cast<size_t>(e)];
        if (front && (front & positive(load_block(arcs + e * flow_block)))) {
          found |= 1u << (w - j);
          break;
        }
      }
    }
    above.next_front[b] |= static_cast<uint16_t>(found);
    above.unseen[b] &= static_cast<uint16_t>(~found);
    any |= found != 0;
    for (Bits rest = found; rest; rest &= rest - 1) above.distance[j + first_of(rest)] = d + 1;
  }
  return any;
}

// Node v of level k, which gets flow from node `from` of the front above. True if it is new.
bool Solver::mark(int k, int v, int from, int d) {
  Level& level = at(k);
  const bool fresh = level.distance[v] == far;
  if (fresh) {
    level.distance[v] = d + 1;
    level.next_front[static_cast<size_t>(v) / flow_block] |=
        static_cast<uint16_t>(1u << (v % flow_block));
    clear(level.unseen, v);
  }
  uint8_t& number = level.parent_count[static_cast<size_t>(v)];
  if (level.distance[v] == d + 1 && number < most_parents)
    level.parents[static_cast<size_t>(v) * most_parents + number++] = static_cast<uint16_t>(from);
  return fresh;
}

// Nodes below that the front of level k sends flow to: it can send that elsewhere.
bool Solver::label_below(int k, int d) {
  const Level& level = at(k);
  const Level& below = at(k - 1);
  const int32_t* full = network_.diagonals[static_cast<size_t>(k)];
  const bool column = below.distance[t_] >= d + 1;
  bool any = false;
  for (int c = begin_; c < end_; ++c) {
    const int j = c * flow_block;
    const Bits front = level.front[static_cast<size_t>(c)];
    if (!front) continue;
    Bits bits = front & less(load_block(level.diagonal.data() + j), load_block(full + j));
    for (; bits; bits &= bits - 1) any |= mark(k - 1, j + first_of(bits), j + first_of(bits), d);
    if (!column) continue;
    bits =
        front & less(load_block(level.column.data() + j), load_block(level.column_full.data() + j));
    for (; bits; bits &= bits - 1) any |= mark(k - 1, t_, j + first_of(bits), d);
  }
  for (int u : level.changed) {
    if (!has(level.front, u)) continue;
    const int32_t* arcs = row(k, u);
    const int32_t* whole = network_.row(k, u);
    const int end = row_end(u);
    for (int e = begin_; e < end; ++e) {
      const size_t b = static_cast<size_t>(e);
      const Bits wanted = below.unseen[b] | below.next_front[b];
      if (!wanted) continue;
      const int j = e * flow_block;
      Bits bits = wanted & less(load_block(arcs + j), load_block(whole + j));
      for (; bits; bits &= bits - 1) {
        const int v = j + first_of(bits);
        if (v != u && v != t_) any |= mark(k - 1, v, u, d);
      }
    }
  }
  return any;
}

int32_t Solver::augment(int32_t most) {
  const int first = begin_ * flow_block, count = (end_ - begin_) * flow_block;
  for (int k = task_.bottom; k < task_.top; ++k) {
    std::fill_n(at(k).next.begin() + first, count, static_cast<int16_t>(begin_));
    std::fill_n(at(k).parent_next.begin() + first, count, uint8_t{0});
  }
  int32_t sent = 0;
  const Level& highest = at(task_.top - 1);
  for (int c = begin_; c < end_ && sent < most; ++c) {
    const int j = c * flow_block;
    Bits bits = positive(load_block(supply_.data() + j)) &
                equal(load_block(highest.distance.data() + j), source_distance_);
    for (; bits && sent < most; bits &= bits - 1) {
      const int u = j + first_of(bits);
      const int32_t p = advance(task_.top - 1, u, std::min(supply_[u], most - sent));
      supply_[u] -= p;
      sent += p;
    }
  }
  return sent;
}

// Pushes up to `most` from (k, u) along labels that fall by one.
int32_t Solver::advance(int k, int u, int32_t most) {
  Level& level = at(k);
  if (k == task_.bottom && level.distance[u] == 1) {
    const int32_t sent = std::min(most, room_[u]);
    room_[u] -= sent;
    if (room_[u] == 0) level.distance[u] = far;
    return sent;
  }
  int32_t sent = k > task_.bottom ? advance_down(k, u, most) : 0;
  if (sent < most && k + 1 < task_.top) sent += advance_up(k, u, most - sent);
  if (sent < most) level.distance[u] = far;
  return sent;
}

// Along arcs with capacity left.
int32_t Solver::advance_down(int k, int u, int32_t most) {
  Level& level = at(k);
  Level& below = at(k - 1);
  const int32_t d = level.distance[u];
  int32_t left = most;
  const auto down = [&](int v, int32_t& arc) {
    while (left > 0 && arc > 0 && below.distance[v] == d - 1) {
      const int32_t sent = advance(k - 1, v, std::min(left, arc));
      arc -= sent;
      left -= sent;
    }
  };
  if (u != t_) down(t_, level.column[u]);
  down(u, level.diagonal[u]);
  int32_t* arcs = row(k, u);
  const int end = row_end(u);
  int c = level.next[static_cast<size_t>(u)];
  for (; c < end && left > 0; ++c) {
    const int j = c * flow_block;
    while (left > 0) {
      const Bits bits =
          equal(load_block(below.distance.data() + j), d - 1) & positive(load_block(arcs + j));
      if (!bits) break;
      const int v = j + first_of(bits);
      const int32_t sent = advance(k - 1, v, std::min(left, arcs[v]));
      if (sent == 0) continue;
      save(k, u, arcs + j);
      arcs[v] -= sent;
      left -= sent;
    }
    if (left == 0) break;
  }
  level.next[static_cast<size_t>(u)] = static_cast<int16_t>(c);
  return most - left;
}

// Back up arcs that carry flow, which goes another way from there.
int32_t Solver::advance_up(int k, int u, int32_t most) {
  Level& level = at(k);
  Level& above = at(k + 1);
  const int32_t d = level.distance[u];
  int32_t left = most;
  uint8_t& q = level.parent_next[static_cast<size_t>(u)];
  for (; q < level.parent_count[static_cast<size_t>(u)]; ++q) {
    const int w = level.parents[static_cast<size_t>(u) * most_parents + q];
    if (above.distance[w] != d - 1) continue;
    int32_t* arc = row(k + 1, w) + u;
    int32_t full = network_.row(k + 1, w)[u];
    if (w == u) {
      arc = &above.diagonal[u];
    } else if (u == t_) {
      arc = &above.column[w];
      full = above.column_full[w];
    }
    if (full == *arc) continue;
    const int32_t sent = advance(k + 1, w, std::min(left, full - *arc));
    *arc += sent;
    left -= sent;
    if (left == 0) break;
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
