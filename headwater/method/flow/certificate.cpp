#include "headwater/method/flow/certificate.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

[[noreturn]] void broken(const char* what) {
  fail("flow: a certificate does not hold ({}); this is a bug in headwater: please report it",
       what);
}

}  // namespace

FlowCheck::FlowCheck(const Capacities& capacities)
    : capacities_(capacities), column_sums_(static_cast<size_t>(capacities.layers()) + 1) {
  for (int l = 1; l <= capacities.layers(); ++l) {
    std::vector<int64_t>& sums = column_sums_[static_cast<size_t>(l)];
    sums.resize(static_cast<size_t>(capacities.n()));
    for (int w = 0; w < capacities.n(); ++w)
      for (int u = 0; u < capacities.n(); ++u)
        sums[static_cast<size_t>(u)] += capacities.row(l, w)[u];
  }
}

void FlowCheck::flow(const kernel::FlowTask& task, const kernel::FlowSolver& solver,
                     int32_t value) const {
  const size_t n = static_cast<size_t>(capacities_.n());
  std::vector<std::vector<int64_t>> in(static_cast<size_t>(task.top), std::vector<int64_t>(n));
  std::vector<std::vector<int64_t>> out = in;
  int64_t supplied = 0, demanded = 0;
  for (int u = 0; u < capacities_.n(); ++u) {
    const int64_t from = solver.supplied(u), to = solver.demanded(u);
    if (from < 0 || from > task.supply[u]) broken("a supply sends more than it has");
    if (to < 0 || to > task.demand[u]) broken("a demand gets more than it asks for");
    in[static_cast<size_t>(task.top) - 1][static_cast<size_t>(u)] += from;
    out[static_cast<size_t>(task.bottom)][static_cast<size_t>(u)] += to;
    supplied += from;
    demanded += to;
  }
  solver.visit_flow([&](int level, int from, int to, int32_t amount) {
    if (level <= task.bottom || level >= task.top) broken("an arc outside the task carries flow");
    if (amount < 0 || amount > capacities_.row(level, from)[to])
      broken("an arc carries more than its capacity");
    out[static_cast<size_t>(level)][static_cast<size_t>(from)] += amount;
    in[static_cast<size_t>(level) - 1][static_cast<size_t>(to)] += amount;
  });
  for (int k = task.bottom; k < task.top; ++k)
    if (in[static_cast<size_t>(k)] != out[static_cast<size_t>(k)])
      broken("a node does not pass on what it gets");
  if (supplied != value || demanded != value) broken("a flow does not have its value");
}

void FlowCheck::rows_are_full() const {
  for (int l = 1; l <= capacities_.layers(); ++l) {
    for (int u = 0; u < capacities_.n(); ++u) {
      int64_t sum = 0;
      for (int v = 0; v < capacities_.n(); ++v) sum += capacities_.row(l, u)[v];
      if (sum != kernel::flow_unit) broken("a row does not sum to 1");
    }
  }
}

int32_t FlowCheck::intake(int t) const {
  int64_t sum = 0;
  for (int u = 0; u < capacities_.n(); ++u)
    sum += std::min<int64_t>(column_sum(2, u), capacities_.row(1, u)[t]);
  return static_cast<int32_t>(std::min<int64_t>(kernel::flow_unit, sum));
}

void FlowCheck::takes_in_all(int t, int32_t value) const {
  if (value != intake(t)) broken("a sink could take in more");
}

std::vector<std::vector<int64_t>> FlowCheck::from_source(int i, int top) const {
  const int n = capacities_.n();
  std::vector<std::vector<int64_t>> level(static_cast<size_t>(top),
                                          std::vector<int64_t>(static_cast<size_t>(n)));
  std::vector<int64_t>& first = level[static_cast<size_t>(top) - 1];
  std::copy_n(capacities_.row(top, i), n, first.begin());
  for (int l = top - 2; l >= 1; --l) {
    const std::vector<int64_t>& above = level[static_cast<size_t>(l) + 1];
    std::vector<int64_t>& here = level[static_cast<size_t>(l)];
    for (int w = 0; w < n; ++w)
      for (int u = 0; u < n; ++u)
        here[static_cast<size_t>(u)] +=
            std::min<int64_t>(above[static_cast<size_t>(w)], capacities_.row(l + 1, w)[u]);
  }
  return level;
}

SinkCheck::SinkCheck(const FlowCheck& check, int t, int levels)
    : check_(check), t_(t), level_(static_cast<size_t>(levels) + 1) {
  const Capacities& capacities = check.capacities();
  const int n = capacities.n();
  for (int l = 1; l <= levels; ++l) {
    std::vector<int64_t>& here = level_[static_cast<size_t>(l)];
    here.resize(static_cast<size_t>(n));
    for (int u = 0; u < n; ++u) {
      int64_t sum = 0;
      if (l == 1) sum = capacities.row(1, u)[t];
      for (int v = 0; l > 1 && v < n; ++v)
        sum += std::min<int64_t>(capacities.row(l, u)[v],
                                 level_[static_cast<size_t>(l) - 1][static_cast<size_t>(v)]);
      here[static_cast<size_t>(u)] = sum;
    }
  }
}

void SinkCheck::know(int l, std::span<const int32_t> values) {
  if (static_cast<size_t>(l) >= level_.size()) level_.resize(static_cast<size_t>(l) + 1);
  level_[static_cast<size_t>(l)].assign(values.begin(), values.end());
}

void SinkCheck::add_cut(const kernel::FlowTask& task, const kernel::FlowSolver& solver,
                        int32_t value) {
  const Capacities& capacities = check_.capacities();
  const auto sink = [&](int k, int u) { return solver.sink_side(k, u); };
  Cut cut{task.top, capacities.causal() ? task.end : capacities.n(), 0,
          std::vector<bool>(static_cast<size_t>(capacities.n()))};
  int64_t above = 0;
  for (int u = task.begin; u < task.end; ++u) {
    cut.sink[static_cast<size_t>(u)] = sink(task.top - 1, u);
    if (sink(task.top - 1, u)) above += task.supply[u];
    if (!sink(task.bottom, u)) cut.below += task.demand[u];
    for (int k = task.bottom + 1; k < task.top; ++k) {
      if (sink(k, u)) continue;
      for (int v = task.begin; v < task.end; ++v)
        if (sink(k - 1, v)) cut.below += capacities.row(k, u)[v];
    }
  }
  if (above + cut.below != value) broken("a cut does not cost the value");
  // With causal attention only some tokens can be on a path, and the cut is for those.
  for (int u = 0; u < capacities.n(); ++u)
    if ((u < task.begin || u >= task.end) && !capacities.causal())
      broken("a cut leaves tokens out");
  cuts_.push_back(std::move(cut));
}

void SinkCheck::bounded(int i, int top, int32_t value,
                        const std::vector<std::vector<int64_t>>* from_source) const {
  const Capacities& capacities = check_.capacities();
  const int n = capacities.n();
  const int32_t* row = capacities.row(top, i);
  int64_t best = kernel::flow_unit;
  if (top == 1) best = row[t_];
  if (top >= 3) best = std::min<int64_t>(best, check_.intake(t_));
  if (top >= 2) {
    int64_t sum = 0;
    for (int u = 0; u < n; ++u)
      sum +=
          std::min<int64_t>(row[u], level_[static_cast<size_t>(top) - 1][static_cast<size_t>(u)]);
    best = std::min(best, sum);
  }
  if (top >= 3 && best > value) best = std::min(best, by_chain(i, top));
  for (int l = 2; l <= top && best > value; ++l) {  // through level l - 1, from any source
    int64_t sum = 0;
    for (int u = 0; u < n; ++u)
      sum += std::min<int64_t>(check_.column_sum(l, u),
                               level_[static_cast<size_t>(l) - 1][static_cast<size_t>(u)]);
    best = std::min(best, sum);
  }
  for (int l = 1; l < top && best > value && from_source; ++l) {
    int64_t sum = 0;
    for (int u = 0; u < n; ++u)
      sum += std::min((*from_source)[static_cast<size_t>(l)][static_cast<size_t>(u)],
                      level_[static_cast<size_t>(l)][static_cast<size_t>(u)]);
    best = std::min(best, sum);
  }
  for (size_t k = cuts_.size(); k-- > 0 && best > value;) {
    if (cuts_[k].top != top || i >= cuts_[k].end) continue;
    int64_t sum = cuts_[k].below;
    for (int u = 0; u < n; ++u)
      if (cuts_[k].sink[static_cast<size_t>(u)]) sum += row[u];
    best = std::min(best, sum);
  }
  if (best != value) broken("no upper bound equals the value");
}

// The cuts whose sink side is t's own chain and, at level top - 2, t and up to 7 tokens that attend
// to it most.
int64_t SinkCheck::by_chain(int i, int top) const {
  const Capacities& capacities = check_.capacities();
  const int n = capacities.n(), m = top - 2;
  std::vector<std::pair<int64_t, int>> tokens;  // t, then by attention to it
  for (int v = 0; v < n; ++v)
    tokens.emplace_back(v == t_ ? -2 * int64_t{kernel::flow_unit} : -capacities.row(m, v)[t_], v);
  std::ranges::sort(tokens);
  int64_t elsewhere = check_.column_sum(m, t_), best = kernel::flow_unit;
  for (int l = 1; l < m; ++l) elsewhere += check_.column_sum(l, t_) - capacities.row(l, t_)[t_];
  std::vector<int64_t> arcs(static_cast<size_t>(n));
  for (size_t s = 0; s < std::min<size_t>(tokens.size(), 8); ++s) {
    elsewhere -= capacities.row(m, tokens[s].second)[t_];
    int64_t sum = elsewhere;
    for (int u = 0; u < n; ++u) {
      arcs[static_cast<size_t>(u)] += capacities.row(top - 1, u)[tokens[s].second];
      sum += std::min<int64_t>(capacities.row(top, i)[u], arcs[static_cast<size_t>(u)]);
    }
    best = std::min(best, sum);
  }
  return best;
}

void SinkCheck::combined(int i, int top, int32_t value) const {
  const Capacities& capacities = check_.capacities();
  int64_t sum = 0;
  for (int u = 0; u < capacities.n(); ++u)
    if (level_[static_cast<size_t>(top) - 1][static_cast<size_t>(u)] >= value)
      sum += capacities.row(top, i)[u];
  if (sum < value) broken("flows of the layer below do not combine");
}

}  // namespace headwater
