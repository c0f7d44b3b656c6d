#include "headwater/method/flow/pairs.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"
#include "headwater/method/flow/bounds.h"
#include "headwater/method/flow/certificate.h"
#include "headwater/method/flow/cut_pool.h"
#include "headwater/method/flow/universal.h"
#include "headwater/method/flow/workers.h"

namespace headwater {
namespace {

constexpr int32_t unknown = -1;
constexpr int most_surplus =
    5;  // a flow is worth raising if at most a 5th of it must be taken back
enum class Start { anew, raised };

constexpr int shallowest_universal = 5;  // layers: three below the vector, two above

class Pairs {
 public:
  Pairs(const Capacities& capacities, const FlowRequest& request)
      : capacities_(capacities),
        request_(request),
        workers_(capacities),
        n_(capacities.n()),
        top_(capacities.layers()),
        stride_(capacities.stride()),
        pairs_(static_cast<int64_t>(request.sources.size() * request.sinks.size()) *
               (request.every_top ? top_ : 1)) {
    values_.tops.assign(
        request.every_top ? static_cast<size_t>(top_) : 1,
        std::vector<int32_t>(request.sources.size() * request.sinks.size(), unknown));
    if (request.certify) check_ = std::make_unique<FlowCheck>(capacities);
    if (top_ >= 2) intake_ = intake(capacities);
    for (size_t r = 0; r < request.sources.size(); ++r) order_.push_back(r);
    // Later sources first: with causal attention their cuts also hold for earlier ones.
    std::ranges::stable_sort(
        order_, [&](size_t a, size_t b) { return request.sources[a] > request.sources[b]; });
    for (int w = 0; w < workers_.count(); ++w) scratch_.emplace_back(capacities, top_);
    // The progress callback can also end the work, and settling pairs by one vector may take
    // seconds.
    if (request_.progress) workers_.before_each([this] { report(0); });
  }

  FlowValues run() {
    report(0);
    if (top_ >= shallowest_universal && !capacities_.causal() &&
        8 * request_.sources.size() > static_cast<size_t>(n_))
      universal();
    if (climbing())
      each_sink([&](kernel::FlowSolver& solver, Scratch& scratch, size_t c) {
        capacities_.causal() ? raise(solver, scratch, c) : climb(solver, scratch, c);
      });
    else
      for (int top = request_.every_top ? 1 : top_; top <= top_; ++top) one_top(top);
    count_saturated();
    return std::move(values_);
  }

 private:
  // A worker's data for its current sink.
  struct Scratch {
    Scratch(const Capacities& capacities, int top)
        : bounds(capacities, std::max(top, 2)),
          chain(capacities),
          cuts(capacities.stride()),
          below(capacities.stride()),
          here(capacities.stride()),
          full(capacities.stride()) {
      for (int l = 0; l <= top; ++l) known.emplace_back(capacities.stride());
    }
    SinkBounds bounds;
    ChainBound chain;
    CutPool cuts;
    kernel::IntArray below, here, full;
    std::vector<kernel::IntArray> known;  // values of every top level
  };

  // Whether every level of all sources is wanted. Then the work goes sink by sink, level by level.
  bool climbing() const {
    return request_.every_top && static_cast<int>(request_.sources.size()) == n_;
  }
  std::vector<int32_t>& values(int top) {
    return values_.tops[request_.every_top ? static_cast<size_t>(top) - 1 : 0];
  }
  int32_t& value(int top, size_t r, size_t c) { return values(top)[r * request_.sinks.size() + c]; }

  void report(int64_t more) {
    if (!request_.progress) return;
    const std::lock_guard lock(mutex_);
    settled_ += more;
    request_.progress(settled_, pairs_);
  }

  void each_sink(const std::function<void(kernel::FlowSolver&, Scratch&, size_t)>& task) {
    workers_.run(static_cast<int>(request_.sinks.size()),
                 [&](kernel::FlowSolver& solver, int worker, int c) {
                   task(solver, scratch_[static_cast<size_t>(worker)], static_cast<size_t>(c));
                 });
  }

  void universal();
  void one_top(int top);
  void one_sink(kernel::FlowSolver& solver, Scratch& scratch, size_t c, int top,
                const SourceBounds& from_sources);
  void raise(kernel::FlowSolver& solver, Scratch& scratch, size_t c);
  void climb(kernel::FlowSolver& solver, Scratch& scratch, size_t c);
  void climb_layer(kernel::FlowSolver& solver, Scratch& scratch, int t, int top, int32_t any,
                   SinkCheck* check);
  int32_t solve(kernel::FlowSolver& solver, Scratch& scratch, int i, int t, int top, int32_t limit,
                SinkCheck* check, Start start = Start::anew);
  void count_saturated();

  const Capacities& capacities_;
  const FlowRequest& request_;
  Workers workers_;
  const int n_, top_, stride_;
  const int64_t pairs_;
  int64_t settled_ = 0;
  std::mutex mutex_;
  FlowValues values_;
  std::unique_ptr<FlowCheck> check_;
  std::vector<int32_t> intake_;
  std::vector<int> saturated_from_;  // [t]: the level from which one vector settles all sources
  std::vector<size_t> order_;
  std::vector<Scratch> scratch_;
  std::vector<std::vector<std::vector<int64_t>>> checked_sources_;
  int checked_top_ = 0;
};

// Settles the pairs that one vector can, at one level and at all levels above it.
void Pairs::universal() {
  saturated_from_.assign(static_cast<size_t>(n_), std::numeric_limits<int>::max());
  std::vector<int> place(static_cast<size_t>(n_), -1);
  for (size_t c = 0; c < request_.sinks.size(); ++c)
    place[static_cast<size_t>(request_.sinks[c])] = static_cast<int>(c);
  if (check_ && capacities_.stochastic()) check_->rows_are_full();
  settle_by_universal_vector(
      capacities_, workers_, intake_, check_.get(),
      [&](int t, const std::vector<uint8_t>& sources, int lowest_top) {
        const bool all = std::ranges::all_of(sources, [](uint8_t good) { return good != 0; });
        if (all) saturated_from_[static_cast<size_t>(t)] = lowest_top;
        if (place[static_cast<size_t>(t)] < 0) return;
        int64_t count = 0;
        for (size_t r = 0; r < request_.sources.size(); ++r) {
          if (!sources[static_cast<size_t>(request_.sources[r])]) continue;
          int32_t& one = value(top_, r, static_cast<size_t>(place[static_cast<size_t>(t)]));
          count += one == unknown;
          one = intake_[static_cast<size_t>(t)];
        }
        report(climbing() ? 0 : count);
      });
}

// Computes one flow with its proof, and adds its cut to the pool.
int32_t Pairs::solve(kernel::FlowSolver& solver, Scratch& scratch, int i, int t, int top,
                     int32_t limit, SinkCheck* check, Start start) {
  kernel::FlowTask task;
  task.supply = capacities_.row(top, i);
  task.demand = capacities_.bottom_column(t);
  task.top = top;
  task.column = t;
  task.source = i;
  task.limit = limit;
  task.begin = capacities_.causal() ? t : 0;
  task.end = capacities_.causal() ? i + 1 : n_;
  task.shown = check != nullptr;
  const int32_t value = start == Start::raised ? solver.raise(task) : solver.solve(task);
  if (solver.has_cut()) scratch.cuts.add(task, solver, value);
  if (check) {
    check_->flow(task, solver, value);
    if (solver.has_cut()) check->add_cut(task, solver, value);
  }
  return value;
}

void Pairs::one_top(int top) {
  const auto open = [&](size_t c) {
    for (size_t r = 0; r < request_.sources.size(); ++r)
      if (value(top, r, c) == unknown) return true;
    return false;
  };
  bool any = false;
  for (size_t c = 0; c < request_.sinks.size() && !any; ++c) any = open(c);
  if (!any) return;
  const int room = std::max(1, workers_.matrices_left());
  const double share = static_cast<double>(request_.sources.size()) / n_;
  const int levels = static_cast<int>(std::min<double>(top_, room / std::max(share, 1e-9)));
  const SourceBounds from_sources(capacities_, top, request_.sources, top >= 3 ? levels : 0);
  if (check_ && checked_top_ != top) {
    checked_top_ = top;
    checked_sources_.clear();
    for (int i : request_.sources) checked_sources_.push_back(check_->from_source(i, top));
  }
  each_sink([&](kernel::FlowSolver& solver, Scratch& scratch, size_t c) {
    if (open(c)) one_sink(solver, scratch, c, top, from_sources);
  });
}

void Pairs::one_sink(kernel::FlowSolver& solver, Scratch& scratch, size_t c, int top,
                     const SourceBounds& from_sources) {
  const int t = request_.sinks[c];
  const kernel::FlowKernels& run = kernel::in_use().flow;
  const bool causal = capacities_.causal();
  std::optional<SinkCheck> check;
  if (check_) check.emplace(*check_, t, std::max(1, top - 1));
  scratch.cuts.clear();
  bool bounds_known = false;
  const auto compute_bounds = [&] {
    scratch.bounds.compute(t);
    scratch.chain.compute(t, top);
  };
  int64_t count = 0;
  for (size_t r : order_) {
    int32_t& out = value(top, r, c);
    if (out != unknown) continue;
    ++count;
    const int i = request_.sources[r];
    const int32_t* row = capacities_.row(top, i);
    if (causal && i < t) {
      out = 0;
      continue;  // there is no path, and the bounds below are zero too
    }
    if (top == 1) {
      out = row[t];
    } else if (top == 2) {
      out = static_cast<int32_t>(run.sum_of_minima(row, capacities_.bottom_column(t), 0, stride_));
    } else {
      const int32_t most = intake_[static_cast<size_t>(t)];
      const int begin = causal ? t / kernel::flow_block * kernel::flow_block : 0;
      const int end =
          causal ? std::min(stride_, (i / kernel::flow_block + 1) * kernel::flow_block) : stride_;
      if (!bounds_known && !causal) {
        // Usually t takes in all it can, and then no other bound is needed.
        out = solve(solver, scratch, i, t, top, most, check ? &*check : nullptr);
        bounds_known = out < most;
        if (bounds_known) compute_bounds();
      } else {
        if (!bounds_known) compute_bounds();
        bounds_known = true;
        int64_t limit = std::min(most, scratch.bounds.of_any_source());
        limit = std::min(limit, run.sum_of_minima(row, scratch.bounds.level(top - 1), begin, end));
        limit = std::min(limit, from_sources.with(scratch.bounds, static_cast<int>(r),
                                                  causal ? t : 0, causal ? i + 1 : n_));
        limit = scratch.cuts.bound(row, limit, begin, end);
        limit = std::min(limit, scratch.chain.of(row, begin, end));
        out = solve(solver, scratch, i, t, top, static_cast<int32_t>(limit),
                    check ? &*check : nullptr);
      }
    }
    if (check) check->bounded(i, top, out, top >= 3 ? &checked_sources_[r] : nullptr);
  }
  report(count);
}

// All levels of one sink, source by source, for causal attention. A flow starts from that of the
// level below. The values that bound it belong to earlier tokens and are already known.
void Pairs::raise(kernel::FlowSolver& solver, Scratch& scratch, size_t c) {
  const int t = request_.sinks[c];
  const kernel::FlowKernels& run = kernel::in_use().flow;
  const int begin = t / kernel::flow_block * kernel::flow_block;
  std::optional<SinkCheck> check;
  if (check_) check.emplace(*check_, t, 1);
  for (kernel::IntArray& values : scratch.known) std::fill_n(values.data(), stride_, 0);
  for (int i = t; i < n_; ++i) {
    const int end = (i / kernel::flow_block + 1) * kernel::flow_block;
    scratch.cuts.clear();
    for (int top = 1; top <= top_; ++top) {
      const int32_t* row = capacities_.row(top, i);
      int32_t& out = scratch.known[static_cast<size_t>(top)][i];
      const kernel::IntArray& below = scratch.known[static_cast<size_t>(top) - 1];
      int64_t limit = top == 1 ? row[t] : run.sum_of_minima(row, below.data(), begin, end);
      if (top >= 3) {
        limit = std::min<int64_t>(limit, intake_[static_cast<size_t>(t)]);
        const bool worth = below[i] - row[i] <= below[i] / most_surplus;
        out = solve(solver, scratch, i, t, top, static_cast<int32_t>(limit),
                    check ? &*check : nullptr, top > 3 && worth ? Start::raised : Start::anew);
      } else {
        out = static_cast<int32_t>(limit);
      }
      if (!check) continue;
      check->bounded(i, top, out, nullptr);
      check->know(top, {scratch.known[static_cast<size_t>(top)].data(), static_cast<size_t>(n_)});
    }
  }
  for (int top = 1; top <= top_; ++top)
    for (size_t r = 0; r < request_.sources.size(); ++r)
      value(top, r, c) = scratch.known[static_cast<size_t>(top)][request_.sources[r]];
  report(static_cast<int64_t>(request_.sources.size()) * top_);
}

// All sources of one sink, level by level: the values of a level bound those of the next.
void Pairs::climb(kernel::FlowSolver& solver, Scratch& scratch, size_t c) {
  const int t = request_.sinks[c];
  const kernel::FlowKernels& run = kernel::in_use().flow;
  std::optional<SinkCheck> check;
  if (check_) check.emplace(*check_, t, 1);
  const auto keep = [&](int top) {
    for (size_t r = 0; r < request_.sources.size(); ++r)
      value(top, r, c) = scratch.here[request_.sources[r]];
    if (check) check->know(top, {scratch.here.data(), static_cast<size_t>(n_)});
    std::swap(scratch.here, scratch.below);
    report(static_cast<int64_t>(request_.sources.size()));
  };
  std::copy_n(capacities_.bottom_column(t), stride_, scratch.here.data());
  keep(1);
  int32_t any = kernel::flow_unit;  // a bound for every source above
  for (int top = 2; top <= top_; ++top) {
    int64_t through = 0;
    for (int u = 0; u < n_; ++u)
      through += std::min(capacities_.column_sums(top)[static_cast<size_t>(u)],
                          static_cast<int64_t>(scratch.below[u]));
    any = static_cast<int32_t>(std::min<int64_t>(any, through));
    if (top == 2) {
      for (int i = 0; i < n_; ++i)
        scratch.here[i] = static_cast<int32_t>(
            run.sum_of_minima(capacities_.row(2, i), scratch.below.data(), 0, stride_));
    } else if (!saturated_from_.empty() && top >= saturated_from_[static_cast<size_t>(t)]) {
      std::fill_n(scratch.here.data(), n_, intake_[static_cast<size_t>(t)]);
      if (check) check_->takes_in_all(t, intake_[static_cast<size_t>(t)]);
    } else {
      climb_layer(solver, scratch, t, top, any, check ? &*check : nullptr);
    }
    keep(top);
  }
}

void Pairs::climb_layer(kernel::FlowSolver& solver, Scratch& scratch, int t, int top, int32_t any,
                        SinkCheck* check) {
  const kernel::FlowKernels& run = kernel::in_use().flow;
  const bool causal = capacities_.causal();
  scratch.cuts.clear();
  scratch.chain.compute(t, top);
  for (int u = 0; u < n_; ++u)
    scratch.full[u] = scratch.below[u] >= any ? std::numeric_limits<int32_t>::max() : 0;
  for (int i = n_ - 1; i >= 0; --i) {
    int32_t& out = scratch.here[i];
    out = 0;
    if (causal && i < t) continue;
    const int begin = causal ? t / kernel::flow_block * kernel::flow_block : 0;
    const int end = causal ? (i / kernel::flow_block + 1) * kernel::flow_block : stride_;
    const int32_t* row = capacities_.row(top, i);
    int64_t limit =
        std::min<int64_t>(any, run.sum_of_minima(row, scratch.below.data(), begin, end));
    // Nodes below that all reach `any` carry it together.
    if (limit == any && run.sum_of_minima(row, scratch.full.data(), begin, end) >= any) {
      out = any;
      if (check) check->combined(i, top, out);
    } else {
      limit = scratch.cuts.bound(row, limit, begin, end);
      limit = std::min(limit, scratch.chain.of(row, begin, end));
      out = solve(solver, scratch, i, t, top, static_cast<int32_t>(limit), check);
    }
    if (check) check->bounded(i, top, out, nullptr);
  }
}

void Pairs::count_saturated() {
  if (top_ < 3) return;
  for (size_t r = 0; r < request_.sources.size(); ++r)
    for (size_t c = 0; c < request_.sinks.size(); ++c)
      values_.saturated += value(top_, r, c) == intake_[static_cast<size_t>(request_.sinks[c])];
}

}  // namespace

FlowValues flow_of_pairs(const Capacities& capacities, const FlowRequest& request) {
  return Pairs(capacities, request).run();
}

}  // namespace headwater
