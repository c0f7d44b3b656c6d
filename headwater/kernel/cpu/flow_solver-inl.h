// Maximum flow through the layered network: a vectorised greedy flow (flow_greedy-inl.h), then
// Dinic's phases (flow_phases-inl.h).
//
// Attention has heavy diagonals (the residual connection), so most flow goes straight down a
// token's own chain (k, u) -> (k-1, u), and into the chain of the task's column t. Both kinds of
// arcs lie apart from the rest, in one vector a level, so that a step of sixteen chains is one
// operation:
//   1. the few large supplies, which have the least choice, node by node;
//   2. every other supply straight down its own chain, and over into t's chain where that has room;
//   3. what is left of them, node by node: the node's row, sixteen arcs at a time, each followed by
//      the chain below it; then what is still left, arc by arc, as in a depth-first search;
//   4. Dinic's phases until no path is left or the task's limit is reached. Most flows never get
//      here.
// Residual capacities are set up once. A solve saves each block before its first change and the
// next one puts the blocks back, so that a flow costs what it touches.
#if defined(HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#endif

#include <algorithm>
#include <cassert>
#include <vector>

#include "headwater/kernel/cpu/flow_blocks-inl.h"
#include "headwater/kernel/flow_memory.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

class Solver final : public FlowSolver {
 public:
  explicit Solver(const FlowNetwork& network)
      : network_(network),
        n_(network.n),
        blocks_(network.stride / flow_block),
        level_(static_cast<size_t>(network.levels()) + 1),
        supply_(network.stride),
        room_(network.stride) {}

  int32_t solve(const FlowTask& task) override {
    put_back();
    begin(task);
    const int32_t limit = task.limit;
    int32_t value = heaviest_first(limit);
    if (value < limit) value += straight_down(limit - value);
    if (value < limit) value += into_column(limit - value);
    if (value < limit) value += node_by_node(limit - value);
    while (value < limit && !task.quick) {
      if (!label()) {
        cut_ = true;
        break;
      }
      value += augment(limit - value);
    }
    return value;
  }

  bool has_cut() const override { return cut_; }
  bool sink_side(int k, int u) const override { return at(k).distance[u] < far; }
  int32_t supplied(int u) const override { return task_.supply[u] - supply_[u]; }
  int32_t demanded(int v) const override { return task_.demand[v] - room_[v]; }
  void visit_flow(const FlowVisit& visit) const override;

 private:
  static constexpr int32_t far = 1 << 29;  // the label of a node from which the sink is not reached
  static constexpr int most_parents = 32;  // of a node, kept for the way back up
  static constexpr int32_t heavy = 1 << 24;  // a supply of more than 1/64

  // The arcs out of a level's nodes, and what the search knows of the nodes.
  struct Level {
    IntArray arcs;      // residual capacities, without the diagonal and the column
    IntArray diagonal;  // (k, u) -> (k-1, u)
    IntArray column;    // (k, u) -> (k-1, t), zero for u = t
    IntArray column_full;
    std::vector<uint16_t> column_live;
    std::vector<uint16_t> live;  // may still pass something down in the greedy flow
    std::vector<int16_t> next;   // the block a node's search stands at
    std::vector<int> changed;    // nodes whose row of arcs has changed
    std::vector<uint8_t> is_changed;
    IntArray distance;
    std::vector<uint16_t> parents;  // nodes of level k + 1 that send flow here, most_parents a node
    std::vector<uint8_t> parent_count, parent_next;
    std::vector<uint16_t> front, next_front, unseen;
  };

  Level& at(int k) { return level_[static_cast<size_t>(k)]; }
  const Level& at(int k) const { return level_[static_cast<size_t>(k)]; }
  int32_t* row(int k, int u) {
    return at(k).arcs.data() + static_cast<size_t>(u) * static_cast<size_t>(network_.stride);
  }
  static bool has(const std::vector<uint16_t>& bits, int u) {
    return (bits[static_cast<size_t>(u) / flow_block] >> (u % flow_block)) & 1;
  }
  static void clear(std::vector<uint16_t>& bits, int u) {
    bits[static_cast<size_t>(u) / flow_block] &= static_cast<uint16_t>(~(1u << (u % flow_block)));
  }
  int row_end(int u) const { return network_.causal ? std::min(end_, u / flow_block + 1) : end_; }

  void save(int k, int u, int32_t* block) {
    Level& level = at(k);
    if (!level.is_changed[static_cast<size_t>(u)]) {
      level.is_changed[static_cast<size_t>(u)] = 1;
      level.changed.push_back(u);
    }
    if (saved_ == places_.size()) {
      places_.resize(std::max<size_t>(4096, 2 * saved_));
      contents_.resize(places_.size() * flow_block);
    }
    places_[saved_] = block;
    store_block(load_block(block), contents_.data() + saved_ * flow_block);
    ++saved_;
  }

  void put_back() {
    for (size_t e = saved_; e-- > 0;)
      store_block(load_block(contents_.data() + e * flow_block), places_[e]);
    saved_ = 0;
    for (int k = task_.bottom + 1; k < task_.top; ++k) {
      for (int u : at(k).changed) at(k).is_changed[static_cast<size_t>(u)] = 0;
      at(k).changed.clear();
    }
  }

  void make_level(int k);
  void set_column(int t, int from, int to);
  void begin(const FlowTask& task);
  int32_t straight_down(int32_t most);
  int32_t into_column(int32_t most);
  int32_t column_room(int k) const;
  void take_down_column(int k, int32_t amount);
  int32_t push_supply(int u, int32_t most);
  int32_t heaviest_first(int32_t most);
  int32_t node_by_node(int32_t most);
  int32_t push(int k, int u, int32_t most);
  int32_t push_row(int k, int u, int32_t most);
  int32_t push_row_into_column(int k, int u, int32_t most);
  bool label();
  void clear_labels();
  bool source_reached() const;
  bool label_above(int k, int d);
  bool label_below(int k, int d);
  bool mark(int k, int v, int from, int d);
  int32_t augment(int32_t most);
  int32_t advance(int k, int u, int32_t most);
  int32_t advance_down(int k, int u, int32_t most);
  int32_t advance_up(int k, int u, int32_t most);

  const FlowNetwork& network_;
  const int n_, blocks_;
  std::vector<Level> level_;
  IntArray supply_, room_;
  FlowTask task_;
  int t_ = -1;                           // the column that lies apart
  int column_from_ = 0, column_to_ = 0;  // in these levels
  int begin_ = 0, end_ = 0;              // blocks
  int source_distance_ = 0;
  bool cut_ = false;
  bool own_chain_first_ = false;
  std::vector<int32_t*> places_;
  IntArray contents_;
  size_t saved_ = 0;
};

void Solver::make_level(int k) {
  Level& level = at(k);
  const size_t stride = static_cast<size_t>(network_.stride);
  if (k > task_.bottom && k < task_.top && level.arcs.size() == 0) {
    level.arcs = IntArray(static_cast<size_t>(n_) * stride);
    std::copy_n(network_.row(k, 0), level.arcs.size(), level.arcs.data());
    for (int u = 0; u < n_; ++u) row(k, u)[u] = 0;
    level.diagonal = IntArray(stride);
    level.column = IntArray(stride);
    level.column_full = IntArray(stride);
    level.column_live.resize(static_cast<size_t>(blocks_));
    level.next.resize(stride);
    level.is_changed.resize(stride);
  }
  if (level.distance.size() == 0) {
    level.distance = IntArray(stride);
    const size_t blocks = static_cast<size_t>(blocks_);
    level.live.resize(blocks);
    level.parents.resize(stride * most_parents);
    level.parent_count.resize(stride);
    level.parent_next.resize(stride);
    level.front.resize(blocks);
    level.next_front.resize(blocks);
    level.unseen.resize(blocks);
    level.next.resize(stride);
  }
}

// Column t moves out of the rows of levels from ... to - 1; the one that was out moves back in.
void Solver::set_column(int t, int from, int to) {
  const bool same = t == t_ && from == column_from_;
  if (same && to <= column_to_) return;
  for (int k = column_from_; k < column_to_ && !same; ++k)
    for (int u = 0; u < n_; ++u)
      if (u != t_) row(k, u)[t_] = at(k).column_full[u];
  for (int k = same ? column_to_ : from; k < to; ++k) {
    Level& level = at(k);
    for (int u = 0; u < n_; ++u) {
      int32_t& arc = row(k, u)[t];
      level.column_full[u] = u == t ? 0 : arc;
      arc = 0;
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
  cut_ = false;
  std::copy_n(task.supply, supply_.size(), supply_.data());
  std::copy_n(task.demand, room_.size(), room_.data());
  for (int k = task.bottom; k < task.top; ++k) {
    Level& level = at(k);
    for (int c = begin_; c < end_; ++c) level.live[static_cast<size_t>(c)] = 0xffff;
    if (k == task.bottom) continue;
    const int first = begin_ * flow_block, count = (end_ - begin_) * flow_block;
    std::copy_n(network_.diagonals[static_cast<size_t>(k)] + first, count,
                level.diagonal.data() + first);
    for (int c = begin_; c < end_; ++c) {
      const Block full = load_block(level.column_full.data() + c * flow_block);
      store_block(full, level.column.data() + c * flow_block);
      level.column_live[static_cast<size_t>(c)] = static_cast<uint16_t>(positive(full));
    }
    std::fill_n(level.next.begin() + first, count, static_cast<int16_t>(begin_));
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
        if (v != u && v != t_ && full[v] != left[v]) visit(k, u, v, full[v] - left[v]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
