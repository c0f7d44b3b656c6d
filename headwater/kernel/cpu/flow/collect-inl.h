// A step of the greedy flow: nodes that still have much room take a little from every supply.
//
// After the rows of the large supplies a few nodes remain that attend to the sink's token so much
// that no single row fills them: it takes one small arc out of each of hundreds. So this step works
// by columns: all arcs into one such node, sixteen at a time. In the rows those arcs are far apart,
// one in each cache line, so they are moved to a vector of their own. The node is then called a
// collector; it stays one, also in the search, until the next task.
#if defined(HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/rows-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The nodes that have `least` left and have not collected yet.
int32_t Solver::collect(int32_t most, int32_t least) {
  int32_t sent = 0;
  for (int b = task_.top - 2; b >= task_.bottom && sent < most; --b) {
    const bool last = b == task_.bottom;
    const std::vector<uint64_t>& live = last ? at(b).live : at(b).column_live;
    const int32_t* room = last ? room_.data() : at(b).column.data();
    roomy_.clear();
    const std::vector<uint64_t>& before = at(b + 1).is_collector;
    for (int c = begin_; c < end_; ++c) {
      Bits bits = block_of(live.data(), c) & ~block_of(before.data(), c);
      if (bits) bits &= less(repeated(least - 1), load_block(room + c * flow_block));
      for (; bits; bits &= bits - 1) {
        const int v = c * flow_block + first_of(bits);
        if (!last || v != t_) roomy_.push_back(v);
      }
    }
    // The ones with the most room first: they need the rest of the most supplies.
    std::ranges::sort(roomy_, [&](int u, int v) { return room[u] > room[v]; });
    for (size_t x = 0; x < roomy_.size() && sent < most; ++x) {
      if (collectors_.node.size() == most_collectors_) return sent;
      sent += collect_into(b, roomy_[x], most - sent);
    }
  }
  return sent;
}

// First the nodes with more room than 1.5 times the mean of a row's entries, then the rest straight
// down; then the nodes with less room, unless there are many.
int32_t Solver::collect_and_go_down(int32_t most) {
  constexpr int most_small = 24;
  int32_t sent = collect(most, flow_unit / 2 / n_ * 3);
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
  return many > most_small ? sent : sent + collect(most - sent, 1);
}

// Into (b, v), and from there out of the network or across to the column's chain. Large supplies
// go first, over their rows: mostly they have more than they need, while others may run short.
int32_t Solver::collect_into(int b, int v, int32_t most) {
  const bool last = b == task_.bottom;
  int32_t& room = last ? room_[v] : at(b).column[v];
  const int32_t asked = std::min({most, room, last ? room : column_room(b - 1)});
  if (asked == 0) return 0;
  const size_t place = make_collector(b, v);
  int32_t left = asked;
  for (size_t x = 0; x < large_.size() && left > 0; ++x)
    left -= collect_from_rows(b, place, large_[x], left);
  for (int c = begin_; c < end_ && left > 0; ++c) {
    const int j = c * flow_block;
    Block amount = load_block(supply_.data() + j);
    if (!positive(amount)) continue;
    amount = through_chains(amount, j, b + 2, task_.top);
    const int32_t sent = collect_block(b + 1, place, c, amount, left);
    if (sent == 0) continue;
    take(amount, supply_.data() + j);
    take_chains(amount, j, b + 2, task_.top);
    left -= sent;
  }
  room -= asked - left;
  if (room == 0) drop(last ? at(b).live.data() : at(b).column_live.data(), v);
  if (!last) take_down_column(b - 1, asked - left);
  return asked - left;
}

// Supply h goes down its own chain, along one of its rows, down another chain, then to (b, v).
int32_t Solver::collect_from_rows(int b, size_t x, int h, int32_t most) {
  int32_t left = most;
  int32_t there = supply_[h];
  for (int k = task_.top - 1; k >= b + 2 && left > 0 && there > 0; --k) {
    const int32_t asked = std::min(left, there);
    int32_t here = asked;
    const Row row = row_of(k, h);
    for (int w = low_; w < high_ && here > 0; ++w)
      for (uint64_t bits = row.open[w] & ~row.apart[w]; bits && here > 0;) {
        const int c = w * blocks_of_a_word + block_with(first_of(bits));
        bits &= ~(uint64_t{0xffff} << shift_of_block(c));
        const int j = c * flow_block;
        Block amount = through_chains(block_of_row(row, c), j, b + 2, k);
        const int32_t sent = collect_block(b + 1, x, c, amount, here);
        if (sent == 0) continue;
        take_arcs(row, c, amount);
        take_chains(amount, j, b + 2, k);
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

// Reduces the amounts at sixteen nodes to the room of their arcs to the collector and to `most` in
// total, and takes that from the arcs. Returns the sum.
HWY_INLINE int32_t Solver::collect_block(int k, size_t x, int c, Block& amount, int32_t most) {
  int32_t* arcs = collected(k, x, c);
  const Block left = load_block(arcs);
  amount = smaller(amount, left);
  int32_t total = sum_of(amount);
  if (total == 0) return 0;
  if (total > most) {
    amount = at_most(amount, most);
    total = most;
  }
  store_block(minus(left, amount), arcs);
  return total;
}

// Makes (b, v) a collector. It copies all arcs into it at once if the level has been transposed,
// otherwise each block of arcs when it is needed. Returns the collector's index.
size_t Solver::make_collector(int b, int v) {
  Level& level = at(b + 1);
  const size_t x = collectors_.node.size(), blocks = static_cast<size_t>(blocks_);
  collectors_.node.push_back(v);
  level.collectors.push_back(x);
  level.place[static_cast<size_t>(v)] = x;
  add(level.is_collector.data(), v);
  if (collectors_.filled.size() < (x + 1) * blocks) {
    collectors_.filled.resize(std::min(std::max<size_t>(16, 2 * x), most_collectors_) * blocks);
    collectors_.left.resize(collectors_.filled.size() * flow_block);
  }
  const int32_t* column = column_of(b + 1, v);
  std::fill_n(collectors_.filled.data() + x * blocks, blocks,
              static_cast<uint8_t>(column != nullptr));
  if (!column) return x;
  int32_t* left = collectors_.left.data() + x * static_cast<size_t>(network_.stride);
  std::copy_n(column, network_.stride, left);
  for (int u : level.changed) left[u] = row(b + 1, u)[v];
  return x;
}

// Copies sixteen arcs from the rows, where they are far apart.
HWY_NOINLINE void Solver::fill_in(int k, size_t x, int c) {
  const int v = collectors_.node[x], first = c * flow_block;
  const size_t block = x * static_cast<size_t>(blocks_) + static_cast<size_t>(c);
  collectors_.filled[block] = 1;
  int32_t* left = collectors_.left.data() + block * flow_block;
  if (first + flow_block <= n_)
    store_block(gather_block(row(k, first) + v, network_.stride), left);
  else
    for (int u = first; u < first + flow_block; ++u) left[u - first] = u < n_ ? row(k, u)[v] : 0;
}

// The nodes below level k, out of a set, that are no collectors: their arcs are in the rows.
const uint64_t* Solver::without_collectors(int k, const uint64_t* nodes) {
  const Level& level = at(k);
  if (level.collectors.empty()) return nodes;
  for (size_t w = 0; w < others_.size(); ++w) others_[w] = nodes[w] & ~level.is_collector[w];
  return others_.data();
}

void Solver::forget_collectors() {
  for (int k = task_.bottom + 1; k < task_.top; ++k) {
    at(k).collectors.clear();
    std::ranges::fill(at(k).is_collector, 0);
  }
  collectors_.node.clear();
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_COLLECT_INL_H
