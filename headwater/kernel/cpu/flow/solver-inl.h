// Maximum flow through the layered network: a vectorised greedy flow (greedy-inl.h), which mostly
// is a maximum flow already, then Dinic's phases (phases-inl.h).
//
// Attention has heavy diagonals (the residual connection), so most flow goes straight down a
// token's own chain (k, u) -> (k-1, u), and into the chain of the task's column t. Both kinds of
// arcs are stored apart from the rest, in one vector for each level (level-inl.h), so that a step
// of sixteen chains is one operation:
//   1. the few large supplies, which have the least choice, go along the rows of their own chains,
//      sixteen arcs at a time, then down the chain below each arc (rows-inl.h);
//   2. every supply goes down its own chain and across to t's chain where that has room;
//   3. nodes that still have much room collect a little from every supply (collect-inl.h), and
//      every supply goes straight down its own chain;
//   4. the rest goes node by node: the node's row, then arc by arc, as in a depth-first search;
//   5. Dinic's phases until no path is left or the task's limit is reached.
// The order follows one rule: fill first what the fewest supplies can reach. Fewer supplies reach
// an arc high up than one further down, and no single supply fills a node with much room.
// Residual capacities are set up once. A solve records what it takes and the next one restores it,
// so a flow costs only what it touches. Bits say which arcs have capacity left and which carry
// flow, so that the search for an arc reads a thirty-second of the memory.
#if defined(HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#undef HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#else
#define HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
#endif

#include <algorithm>
#include <cassert>
#include <vector>

#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/level-inl.h"

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
        large_from_(network.causal
                        ? large_anyway
                        : std::min(large_anyway, 2 * (flow_unit / std::max(2, network.n)))),
        level_(static_cast<size_t>(network.levels()) + 1),
        supplied_(static_cast<size_t>(words_)),
        chains_(level_.size()),
        supply_(network.stride),
        room_(network.stride),
        carried_(network.stride),
        most_collectors_(static_cast<size_t>(std::max(64, n_ / 4))),
        others_(static_cast<size_t>(words_)) {}

  int32_t solve(const FlowTask& task) override {
    put_back();
    begin(task);
    return fill(0);
  }

  int32_t raise(const FlowTask& task) override {
    if (!network_.causal) return solve(task);  // rows do not know what was collected
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
  // A supply is large if it is at least 1/64, or, among many tokens that all attend to each other,
  // at least twice the mean.
  static constexpr int32_t large_anyway = 1 << 24;
  // After this many nodes that lead nowhere, labelling all nodes again costs less than going on.
  static constexpr int most_lost = 4;

  Level& at(int k) { return level_[static_cast<size_t>(k)]; }
  const Level& at(int k) const { return level_[static_cast<size_t>(k)]; }
  int32_t* row(int k, int u) {
    return at(k).arcs.data() + static_cast<size_t>(u) * static_cast<size_t>(network_.stride);
  }
  uint64_t* line(std::vector<uint64_t>& bits, size_t x) const {
    return bits.data() + x * static_cast<size_t>(words_);
  }
  uint64_t* line(std::vector<uint64_t>& bits, int u) const {
    return line(bits, static_cast<size_t>(u));
  }
  // The rare case is not inlined, so that vectors stay in registers.
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

  // The arcs of one node, in place.
  struct Row {
    int level, node;
    int32_t* arcs;
    uint64_t *open, *used;
    const uint64_t* apart;  // those into collectors
  };
  HWY_INLINE Row row_of(int k, int u) {
    Level& level = at(k);
    return {k, u, row(k, u), line(level.open, u), line(level.used, u), level.is_collector.data()};
  }

  // Sixteen arcs of a row, without those into collectors.
  static HWY_INLINE Block block_of_row(const Row& row, int c) {
    const Block arcs = load_block(row.arcs + c * flow_block);
    const Bits apart = block_of(row.apart, c);
    return apart ? without(arcs, apart) : arcs;
  }

  // Takes amounts from sixteen arcs of a row.
  HWY_INLINE void take_arcs(const Row& row, int c, const Block& amount) {
    change(row.level, row.node);
    if (saved_ == places_.size()) make_places();
    int32_t* arcs = row.arcs + c * flow_block;
    const Block after = minus(load_block(arcs), amount);
    places_[saved_] = arcs;
    store_block(amount, taken_.data() + saved_ * flow_block);
    ++saved_;
    store_block(after, arcs);
    set_block(row.open, c, positive(after));
    row.used[word_of_block(c)] |= uint64_t{positive(amount)} << shift_of_block(c);
  }

  // The minimum of the amounts and of what sixteen chains have left between two levels; and the
  // same taken from the chains.
  HWY_INLINE Block through_chains(Block amount, int j, int from, int to) const {
    for (int l = from; l < to; ++l)
      amount = smaller(amount, load_block(chains_[static_cast<size_t>(l)] + j));
    return amount;
  }
  HWY_INLINE void take_chains(const Block& amount, int j, int from, int to) {
    for (int l = from; l < to; ++l) take(amount, chains_[static_cast<size_t>(l)] + j);
  }

  // Takes from a single arc, which is not on the diagonal or in the column.
  void take_arc(int k, int u, int v, int32_t amount) {
    change(k, u);
    int32_t& arc = row(k, u)[v];
    steps_.push_back({&arc, amount});
    arc -= amount;
    if (arc == 0) drop(line(at(k).open, u), v);
    add(line(at(k).used, u), v);
  }

  // Extends a flow of this value to a maximum one.
  int32_t fill(int32_t value) {
    const int32_t limit = task_.limit;
    if (value < limit) value += largest_first(limit - value);
    if (value < limit) value += into_column(limit - value);
    // Causal flows may be raised, which works by rows, so nothing is collected.
    if (value < limit)
      value += network_.causal ? straight_down(limit - value) : collect_and_go_down(limit - value);
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
  int32_t collect_from_rows(int b, size_t x, int h, int32_t most);
  int32_t collect_block(int k, size_t x, int c, Block& amount, int32_t most);
  size_t make_collector(int b, int v);
  // Sixteen arcs of level k into collector x; and a single one.
  HWY_INLINE int32_t* collected(int k, size_t x, int c) {
    const size_t block = x * static_cast<size_t>(blocks_) + static_cast<size_t>(c);
    if (!collectors_.filled[block]) fill_in(k, x, c);
    return collectors_.left.data() + block * flow_block;
  }
  HWY_INLINE int32_t& collected_from(int k, size_t x, int u) {
    const unsigned arc = static_cast<unsigned>(u);
    return collected(k, x, static_cast<int>(arc / flow_block))[arc % flow_block];
  }
  void fill_in(int k, size_t x, int c);
  // The capacities of all arcs into (k - 1, v) if the level has been transposed, otherwise null.
  const int32_t* column_of(int k, int v) const {
    return network_.columns ? network_.columns->column(k, v) : nullptr;
  }
  int32_t capacity(int k, int u, int v) const {
    const int32_t* column = column_of(k, v);
    return column ? column[u] : network_.row(k, u)[v];
  }
  // Calls visit(index) for the collectors below level k that are among the nodes.
  template <class Visit>
  HWY_INLINE void each_collector(int k, const uint64_t* nodes, const Visit& visit) const {
    const Level& level = at(k);
    if (level.collectors.empty()) return;
    for (int w = low_; w < high_; ++w)
      for (uint64_t bits = nodes[w] & level.is_collector[static_cast<size_t>(w)]; bits;
           bits &= bits - 1)
        visit(level.place[static_cast<size_t>(w * word_bits + first_of(bits))]);
  }
  const uint64_t* without_collectors(int k, const uint64_t* nodes);
  void forget_collectors();
  int32_t node_by_node(int32_t most);
  int most_failed() const { return words_; }
  void refresh_live(int k);
  int32_t push(int k, int u, int32_t most);
  int32_t push_row(int k, int u, int32_t most);
  int32_t push_row_into_column(int k, int u, int32_t most);
  int32_t search(int32_t most);
  void chain_bits();
  void collector_bits(int k);
  Block capacities_into(int k, int v, int c) const;
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
  std::vector<int32_t*> chains_;    // [k], the levels' diagonals
  IntArray supply_, room_;
  IntArray carried_;        // by the source's row in a level that was added
  std::vector<int> large_;  // supplies, the order in which they go
  std::vector<int> rich_;   // large supplies of which something is left
  std::vector<int> roomy_;  // nodes of a level, the order in which they collect
  Collectors collectors_;
  const size_t most_collectors_;  // as they take memory
  std::vector<uint64_t> others_;  // nodes that are none of them
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

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FLOW_SOLVER_INL_H
