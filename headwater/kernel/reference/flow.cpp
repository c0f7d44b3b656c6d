// The operations of flow/flow.h with plain loops: Dinic's algorithm as in a textbook.
#include <algorithm>
#include <limits>
#include <queue>

#include "headwater/kernel/reference/reference.h"

namespace headwater::kernel {
namespace {

constexpr int not_reached = std::numeric_limits<int>::max();

class PlainSolver final : public FlowSolver {
 public:
  explicit PlainSolver(const FlowNetwork& network) : network_(network), n_(network.n) {}

  int32_t solve(const FlowTask& task) override {
    task_ = task;
    supply_.assign(task.supply, task.supply + n_);
    room_.assign(task.demand, task.demand + n_);
    flow_.assign(static_cast<size_t>(network_.levels()) + 1, {});
    distance_.assign(flow_.size(), std::vector<int>(supply_.size(), not_reached));
    for (int k = task.bottom + 1; k < task.top; ++k)
      flow_[static_cast<size_t>(k)].assign(supply_.size() * supply_.size(), 0);
    int32_t value = 0;
    while (value < task.limit && label()) {
      for (int u = task.begin; u < task.end && value < task.limit; ++u) {
        for (int32_t sent = 1; sent > 0 && value < task.limit && supply_[index(u)] > 0;) {
          sent = advance(task.top - 1, u, std::min(supply_[index(u)], task.limit - value));
          supply_[index(u)] -= sent;
          value += sent;
        }
      }
    }
    has_cut_ = value < task.limit;
    return value;
  }

  int32_t raise(const FlowTask& task) override { return solve(task); }

  bool has_cut() const override { return has_cut_; }
  bool sink_side(int k, int u) const override {
    return distance_[static_cast<size_t>(k)][index(u)] != not_reached;
  }
  int32_t supplied(int u) const override { return task_.supply[u] - supply_[index(u)]; }
  int32_t demanded(int v) const override { return task_.demand[v] - room_[index(v)]; }
  void visit_flow(const FlowVisit& visit) const override {
    for (int k = task_.bottom + 1; k < task_.top; ++k)
      for (int u = 0; u < n_; ++u)
        for (int v = 0; v < n_; ++v)
          if (const int32_t amount = flow_[static_cast<size_t>(k)][place(u, v)])
            visit(k, u, v, amount);
  }

 private:
  static size_t index(int u) { return static_cast<size_t>(u); }
  size_t place(int u, int v) const { return index(u) * static_cast<size_t>(n_) + index(v); }
  int32_t& flow(int k, int u, int v) { return flow_[static_cast<size_t>(k)][place(u, v)]; }
  int& distance(int k, int u) { return distance_[static_cast<size_t>(k)][index(u)]; }

  // Distances to the sink; false if no supply that is left reaches it.
  bool label() {
    for (std::vector<int>& level : distance_) std::ranges::fill(level, not_reached);
    std::queue<std::pair<int, int>> queue;
    const auto reach = [&](int k, int u, int d) {
      if (distance(k, u) != not_reached) return;
      distance(k, u) = d;
      queue.emplace(k, u);
    };
    for (int v = task_.begin; v < task_.end; ++v)
      if (room_[index(v)] > 0) reach(task_.bottom, v, 1);
    for (; !queue.empty(); queue.pop()) {
      const auto [k, v] = queue.front();
      const int d = distance(k, v) + 1;
      for (int u = task_.begin; u < task_.end; ++u) {
        if (k + 1 < task_.top && flow(k + 1, u, v) < network_.row(k + 1, u)[v]) reach(k + 1, u, d);
        if (k > task_.bottom && flow(k, v, u) > 0) reach(k - 1, u, d);
      }
    }
    for (int u = task_.begin; u < task_.end; ++u)
      if (supply_[index(u)] > 0 && distance(task_.top - 1, u) != not_reached) return true;
    return false;
  }

  // One path, along falling distances.
  int32_t advance(int k, int u, int32_t most) {
    const int d = distance(k, u);
    if (d == not_reached) return 0;
    if (k == task_.bottom && d == 1) {
      const int32_t sent = std::min(most, room_[index(u)]);
      room_[index(u)] -= sent;
      if (sent > 0) return sent;
    }
    for (int v = task_.begin; v < task_.end; ++v) {
      if (k > task_.bottom && distance(k - 1, v) == d - 1) {
        int32_t& arc = flow(k, u, v);
        const int32_t left = network_.row(k, u)[v] - arc;
        const int32_t sent = left > 0 ? advance(k - 1, v, std::min(most, left)) : 0;
        arc += sent;
        if (sent > 0) return sent;
      }
      if (k + 1 < task_.top && distance(k + 1, v) == d - 1) {
        int32_t& arc = flow(k + 1, v, u);
        const int32_t sent = arc > 0 ? advance(k + 1, v, std::min(most, arc)) : 0;
        arc -= sent;
        if (sent > 0) return sent;
      }
    }
    distance(k, u) = not_reached;
    return 0;
  }

  const FlowNetwork& network_;
  const int n_;
  FlowTask task_;
  std::vector<int32_t> supply_, room_;
  std::vector<std::vector<int32_t>> flow_;
  std::vector<std::vector<int>> distance_;
  bool has_cut_ = false;
};

std::unique_ptr<FlowSolver> solver(const FlowNetwork& network) {
  return std::make_unique<PlainSolver>(network);
}

int64_t sum_of_minima(const int32_t* a, const int32_t* b, int begin, int end) {
  int64_t sum = 0;
  for (int j = begin; j < end; ++j) sum += std::min(a[j], b[j]);
  return sum;
}

void add_minima(int32_t value, const int32_t* row, int32_t* sums, int begin, int end) {
  for (int j = begin; j < end; ++j)
    sums[j] = std::min(flow_unit, sums[j] + std::min(value, row[j]));
}

}  // namespace

FlowKernels reference_flow() { return {solver, sum_of_minima, add_minima}; }

}  // namespace headwater::kernel
