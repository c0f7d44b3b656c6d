// Maximum flow through the layered network: a vectorised greedy flow (flow_greedy-inl.h), which
// mostly is a maximum one, then Dinic's phases (flow_phases-inl.h).
//
// Attention has heavy diagonals (the residual connection), so most flow goes straight down a
// token's own chain (k, u) -> (k-1, u), and into the chain of the task's column t. Both kinds of
// arcs lie apart from the rest, in one vector a level, so that a step of sixteen chains is one
// operation:
//   1. the few large supplies, which have the least choice, over the rows of their own chains,
//      sixteen arcs at a time, each followed by the chain below it (flow_rows-inl.h);
//   2. every supply down its own chain and over into t's chain where that has room;
//   3. nodes that still have much room collect a little from every supply (flow_collect-inl.h), and
//      every supply goes straight down its own chain;
//   4. what is left, node by node: the node's row, then arc by arc, as in a depth-first search;
//   5. Dinic's phases until no path is left or the task's limit is reached.
// The order follows one rule: first what the fewest supplies can reach. An arc high up is reached
// by fewer than one further down, and a node with much room is filled by nobody alone.
// Residual capacities are set up once. A solve notes what it takes and the next one gives it back,
// so that a flow costs what it touches. Which arcs have capacity left and which carry flow is also
// kept as bits, so that looking for an arc reads a thirty-second of the memory.
#if defined(HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#endif

#include <algorithm>
#include <cassert>
#include <vector>

#include "headwater/kernel/cpu/flow_bits-inl.h"
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
        words_(words_of(network.stride)),
        large_from_(network.causal ? large_anyway
                                   : std::min(large_anyway, flow_unit / std::max(1, network.n))),
        level_(static_cast<size_t>(network.levels()) + 1),
        supplied_(static_cast<size_t>(words_)),
        supply_(network.stride),
        room_(network.stride),
        carried_(network.stride),
        is_large_(static_cast<size_t>(words_)),
        gathered_(static_cast<size_t>(blocks_)),
        into_(network.stride) {}

  int32_t solve(const FlowTask& task) override {
    put_back();
    begin(task);
    return fill(0);
  }

  int32_t raise(const FlowTask& task) override {
    int32_t value = add_level(task);
    if (value < task.limit) value += replace_surplus(task.limit - value);
    value = fill(value);
    if (task.shown) drop_surplus();
    return value;
  }

  bool has_cut() const override { return cut_; }
  bool sink_side(int k, int u) const override { return !has(at(k).unseen.data(), u); }
  int32_t supplied(int u) const override { return task_.supply[u] - supply_[u]; }
  int32_t demanded(int v) const override { return task_.demand[v] - room_[v]; }
  void visit_flow(const FlowVisit& visit) const override;

 private:
  // A supply is large from 1/64 on; among many tokens that all attend to each other, from the mean
  // on.
  static constexpr int32_t large_anyway = 1 << 24;
  // From so many nodes that lead nowhere on, a new look at all of them costs less than to go on.
  static constexpr int most_lost = 4;

  // The arcs out of a level's nodes, and what the search knows of the nodes.
  struct Level {
    IntArray arcs;      // residual capacities, without the diagonal and the column
    IntArray diagonal;  // (k, u) -> (k-1, u)
    IntArray column;    // (k, u) -> (k-1, t), zero for u = t
    IntArray column_full;
    // One bit an arc, a line of words_ a node; without the diagonal and the column.
    std::vector<uint64_t> whole;  // u's arcs that have a capacity at all
    std::vector<uint64_t> open;   // ... that have some left
    std::vector<uint64_t> used;   // ... that carry flow
    // Only where rows are long: v's arcs that carry flow from u, for words of v and of u turned.
    std::vector<uint64_t> used_in;
    std::vector<uint8_t> turned;
    // One bit a node.
    std::vector<uint64_t> live;  // may still pass something down in the greedy flow
    std::vector<uint64_t> column_live;
    std::vector<uint64_t> collected;  // had its turn to collect
    std::vector<uint64_t> diagonal_open, diagonal_used, column_used;
    std::vector<uint64_t> unseen;
    int32_t surplus = 0;       // flow out of the source's node here that nothing feeds
    std::vector<int> changed;  // nodes whose row of arcs has changed
    std::vector<uint8_t> is_changed;
  };

  Level& at(int k) { return level_[static_cast<size_t>(k)]; }
  const Level& at(int k) const { return level_[static_cast<size_t>(k)]; }
  int32_t* row(int k, int u) {
    return at(k).arcs.data() + static_cast<size_t>(u) * static_cast<size_t>(network_.stride);
  }
  uint64_t* line(std::vector<uint64_t>& bits, int u) const {
    return bits.data() + static_cast<size_t>(u) * static_cast<size_t>(words_);
  }
  // What is rare stays out of line, so that vectors stay in registers.
  HWY_INLINE void change(int k, int u) {
    if (!at(k).is_changed[static_cast<size_t>(u)]) first_change(k, u);
  }
  HWY_NOINLINE void first_change(int k, int u) {
    at(k).is_changed[static_cast<size_t>(u)] = 1;
    at(k).changed.push_back(u);
  }
  HWY_NOINLINE void make_places() {
    places_.resize(std::max<size_t>(4096, 2 * saved_));
    taken_.resize(places_.size() * flow_block);
  }

  // Takes amounts from sixteen arcs of (k, u).
  HWY_INLINE void take_arcs(int k, int u, int c, const Block& amount) {
    change(k, u);
    if (saved_ == places_.size()) make_places();
    int32_t* arcs = row(k, u) + c * flow_block;
    const Block before = load_block(arcs), after = minus(before, amount);
    places_[saved_] = arcs;
    store_block(amount, taken_.data() + saved_ * flow_block);
    ++saved_;
    store_block(after, arcs);
    set_block(line(at(k).open, u), c, positive(after));
    line(at(k).used, u)[word_of_block(c)] |= uint64_t{positive(amount)} << shift_of_block(c);
  }

  // Takes from a single arc, which is not one of the diagonal or the column.
  void take_arc(int k, int u, int v, int32_t amount) {
    change(k, u);
    int32_t& arc = row(k, u)[v];
    steps_.push_back({&arc, amount});
    arc -= amount;
    if (arc == 0) drop(line(at(k).open, u), v);
    add(line(at(k).used, u), v);
  }

  // From a flow of some value to a maximum one.
  int32_t fill(int32_t value) {
    const int32_t limit = task_.limit;
    if (value < limit) value += largest_first(limit - value);
    if (value < limit) value += into_column(limit - value);
    // Causal flows may be raised, and then go on from rows that have to be up to date.
    if (value < limit)
      value += network_.causal ? straight_down(limit - value) : collect_and_go_down(limit - value);
    if (value < limit || task_.shown) settle();
    if (value < limit) value += node_by_node(limit - value);
    if (value < limit) value += search(limit - value);
    return value;
  }

  void put_back();
  void make_level(int k);
  void set_column(int t, int from, int to);
  void begin(const FlowTask& task);
  void begin_level(int k);
  int32_t add_level(const FlowTask& task);
  int32_t replace_surplus(int32_t most);
  int32_t replace_straight_down(int32_t most);
  int32_t replace_by_row(int u, int32_t most);
  void give_back(int c, const Block& amount);
  void drop_surplus();
  int32_t straight_down(int32_t most);
  int32_t into_column(int32_t most);
  int32_t column_room(int k) const;
  void take_down_column(int k, int32_t amount);
  int32_t push_supply(int u, int32_t most);
  int32_t cross_over(int k, int u, int32_t most);
  int32_t push_own_rows(int k, int u, int32_t most);
  int32_t largest_first(int32_t most);
  void find_large();
  int32_t relieve(int32_t most);
  int32_t collect(int32_t most, int32_t least);
  int32_t collect_and_go_down(int32_t most);
  int32_t collect_into(int b, int v, int32_t most);
  int32_t collect_from_rows(int b, int v, int h, int32_t most);
  int32_t collect_block(int b, int v, int c, Block& amount, int32_t most);
  void gather(int k, int v, int c, int32_t* arcs);
  void settle();
  int32_t node_by_node(int32_t most);
  int most_failed() const { return words_; }
  void refresh_live(int k);
  int32_t push(int k, int u, int32_t most);
  int32_t push_row(int k, int u, int32_t most);
  int32_t push_row_into_column(int k, int u, int32_t most);
  int32_t search(int32_t most);
  void chain_bits();
  bool label();
  void label_above(int k, int d);
  void label_below(int k, int d);
  uint64_t* front(int d, int k) {
    return fronts_.data() + static_cast<size_t>(d * (task_.top - task_.bottom) + k - task_.bottom) *
                                static_cast<size_t>(words_);
  }
  uint64_t senders(int k, int v, int w, uint64_t asked);
  bool lost() const { return failed_ >= most_lost; }
  int32_t augment(int32_t most);
  int32_t advance(int k, int u, int d, int32_t most);
  int32_t advance_down(int k, int u, int d, int32_t most);
  int32_t advance_up(int k, int u, int d, int32_t most);
  void use(int k, int u, int v, int32_t amount);
  int32_t left_on(int k, int u, int v) {
    return u == v ? at(k).diagonal[u] : v == t_ ? at(k).column[u] : row(k, u)[v];
  }

  const FlowNetwork& network_;
  const int n_, blocks_, words_;
  const int32_t large_from_;
  std::vector<Level> level_;
  std::vector<uint64_t> supplied_;  // nodes with supplies that are left
  std::vector<uint64_t> fronts_;    // nodes by distance to the sink and level
  IntArray supply_, room_;
  IntArray carried_;        // by the source's row in a level that was added
  std::vector<int> large_;  // supplies, the order in which they go
  std::vector<uint64_t> is_large_;
  std::vector<int> rich_;          // large supplies of which something is left
  std::vector<int> roomy_;         // nodes of a level, the order in which they collect
  std::vector<uint8_t> gathered_;  // blocks of into_ that are there
  IntArray into_;                  // what is left of the arcs into the node that collects
  // What collecting took and the rows do not know of yet: from sixteen nodes of a level to one.
  struct Owing {
    int level, block, to;
  };
  std::vector<Owing> owing_;
  IntArray owed_amounts_;
  size_t owed_ = 0;
  FlowTask task_;
  int t_ = -1;                           // the column that lies apart
  int column_from_ = 0, column_to_ = 0;  // in these levels
  int begin_ = 0, end_ = 0;              // blocks
  int low_ = 0, high_ = 0;               // words
  int source_distance_ = 0;
  bool cut_ = false;
  bool own_chain_first_ = false;
  int failed_ = 0;  // nodes that led nowhere since what leads somewhere was looked up
  std::vector<int32_t*> places_;
  IntArray taken_;
  size_t saved_ = 0;
  struct Step {
    int32_t* arc;
    int32_t amount;
  };
  std::vector<Step> steps_;  // what single arcs gave since
};

// Residual capacities as they were before the first task.
void Solver::put_back() {
  owed_ = 0;
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
    level.whole.resize(static_cast<size_t>((n_ + word_bits - 1) / word_bits * word_bits) * words);
    for (int u = 0; u < n_; ++u)
      for (int c = 0; c < blocks_; ++c)
        set_block(line(level.whole, u), c, positive(load_block(row(k, u) + c * flow_block)));
    level.open = level.whole;
    level.used.resize(level.whole.size());
    if (words_ > most_short) {
      level.used_in.resize(words * word_bits * words);
      level.turned.resize(words * words);
    }
    for (std::vector<uint64_t>* bits :
         {&level.column_live, &level.diagonal_open, &level.diagonal_used, &level.column_used})
      bits->resize(words);
  }
  level.live.resize(words);
  level.collected.resize(words);
  level.unseen.resize(words);
}

// Column t moves out of the rows of levels from ... to - 1; the one that was out moves back in.
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
        if (v != u && v != t_ && full[v] != left[v]) visit(k, u, v, full[v] - left[v]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
