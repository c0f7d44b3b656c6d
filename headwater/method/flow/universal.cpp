#include "headwater/method/flow/universal.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace headwater {
namespace {

constexpr int lowest_middle = 3, highest_middle = 10;  // levels to try
constexpr int spread_over = 4;                         // layers of the mean rollout
constexpr int fewest_deep = 3, most_deep = 4;          // layers from shared sources to the middle
constexpr int probes = 16;

class Universal {
 public:
  Universal(const Capacities& capacities, Workers& workers, const std::vector<int32_t>& intake,
            const FlowCheck* check, const Settle& settle)
      : capacities_(capacities),
        workers_(workers),
        intake_(intake),
        check_(check),
        settle_(settle),
        n_(capacities.n()),
        top_(capacities.layers()),
        open_(static_cast<size_t>(n_)),
        good_(static_cast<size_t>(n_)),
        pi_(static_cast<size_t>(capacities.stride())) {
    std::iota(open_.begin(), open_.end(), 0);
  }

  bool run() {
    for (int m = lowest_middle; m <= std::min(highest_middle, top_ - 2) && !open_.empty(); ++m) {
      make_vector(m);
      if (!promising(m)) continue;
      const int from = sources_from(m);
      if (from == 0) break;
      take_sinks(m, from);
    }
    return open_.empty();
  }

 private:
  void make_vector(int m) {
    std::vector<double> x(static_cast<size_t>(n_), 1.0 / n_), y(x.size());
    for (int l = std::min(top_, m + spread_over); l > m; --l) {
      std::ranges::fill(y, 0.0);
      for (int i = 0; i < n_; ++i) {
        const int32_t* row = capacities_.row(l, i);
        const double weight = x[static_cast<size_t>(i)] / kernel::flow_unit;
        for (size_t j = 0; j < y.size(); ++j) y[j] += weight * row[j];
      }
      std::swap(x, y);
    }
    int64_t left = kernel::flow_unit;
    size_t largest = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      pi_[j] = static_cast<int32_t>(std::clamp(x[j], 0.0, 1.0) * kernel::flow_unit);
      left -= pi_[j];
      if (pi_[j] > pi_[largest]) largest = j;
    }
    pi_[largest] += static_cast<int32_t>(left);
  }

  bool takes_in(kernel::FlowSolver& solver, int m, int t) const {
    kernel::FlowTask task;
    task.supply = pi_.data();
    task.demand = capacities_.bottom_column(t);
    task.top = m + 1;
    task.column = task.source = t;
    task.limit = intake_[static_cast<size_t>(t)];
    task.end = n_;
    task.shown = check_ != nullptr;
    const int32_t value = solver.solve(task);
    if (value == task.limit && check_) {
      check_->flow(task, solver, value);
      check_->takes_in_all(t, value);
    }
    return value == task.limit;
  }

  bool delivers(kernel::FlowSolver& solver, int m, int top, int i) const {
    kernel::FlowTask task;
    task.supply = capacities_.row(top, i);
    task.demand = pi_.data();
    task.top = top;
    task.bottom = m;
    task.column = task.source = i;
    task.limit = kernel::flow_unit;
    task.end = n_;
    task.shown = check_ != nullptr;
    const int32_t value = solver.solve(task);
    if (value == task.limit && check_) check_->flow(task, solver, value);
    return value == task.limit;
  }

  // Whether half of a few probed sinks are served; otherwise the rest is not worth the time.
  bool promising(int m) {
    if (static_cast<int>(open_.size()) < n_ || m >= top_ - 3) return true;
    const int count = std::min(probes, n_);
    std::atomic<int> served = 0;
    workers_.run(count, [&](kernel::FlowSolver& solver, int, int k) {
      if (takes_in(solver, m, static_cast<int>(static_cast<int64_t>(k) * n_ / count))) ++served;
    });
    return 2 * served >= count;
  }

  // The level from which all sources deliver the vector; the top if only those in good_ do; 0 if
  // fewer than half do.
  int sources_from(int m) {
    for (int deep = fewest_deep; deep <= most_deep && m + deep < top_ && capacities_.stochastic();
         ++deep) {
      std::atomic<bool> all = true;
      workers_.run(n_, [&](kernel::FlowSolver& solver, int, int k) {
        // Neighbours fail together, so large steps through the sources find a failure sooner.
        constexpr int64_t step = 7919;
        const int i = n_ % step == 0 ? k : static_cast<int>(k * step % n_);
        if (all && !delivers(solver, m, m + deep, i)) all = false;
      });
      if (!all) continue;
      std::ranges::fill(good_, uint8_t{1});
      return m + deep;
    }
    std::atomic<int> count = 0;
    workers_.run(n_, [&](kernel::FlowSolver& solver, int, int i) {
      good_[static_cast<size_t>(i)] = delivers(solver, m, top_, i);
      count += good_[static_cast<size_t>(i)];
    });
    return 2 * count >= n_ ? top_ : 0;
  }

  void take_sinks(int m, int from) {
    std::vector<uint8_t> served(open_.size());
    workers_.run(static_cast<int>(open_.size()), [&](kernel::FlowSolver& solver, int, int k) {
      served[static_cast<size_t>(k)] = takes_in(solver, m, open_[static_cast<size_t>(k)]);
    });
    const bool all = std::ranges::all_of(good_, [](uint8_t good) { return good != 0; });
    std::vector<int> still_open;
    for (size_t k = 0; k < open_.size(); ++k) {
      if (served[k]) settle_(open_[k], good_, from);
      if (!served[k] || !all) still_open.push_back(open_[k]);
    }
    open_ = std::move(still_open);
  }

  const Capacities& capacities_;
  Workers& workers_;
  const std::vector<int32_t>& intake_;
  const FlowCheck* check_;
  const Settle& settle_;
  const int n_, top_;
  std::vector<int> open_;  // sinks
  std::vector<uint8_t> good_;
  kernel::IntArray pi_;
};

}  // namespace

bool settle_by_universal_vector(const Capacities& capacities, Workers& workers,
                                const std::vector<int32_t>& intake, const FlowCheck* check,
                                const Settle& settle) {
  return Universal(capacities, workers, intake, check, settle).run();
}

}  // namespace headwater
