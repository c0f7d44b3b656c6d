#include "headwater/method/flow/cut.h"

#include <algorithm>
#include <cmath>

#include "headwater/method/flow/workers.h"

namespace headwater {
namespace {

// Level k, from 1, is above layer k - 1 of the range.
class Arcs {
 public:
  explicit Arcs(int first_layer) : first_layer_(first_layer) {}
  void add(int level, int from, int to, int32_t capacity) {
    if (capacity > 0)
      list.push_back({first_layer_ + level - 1, from, to, std::ldexp(capacity, -30)});
  }
  std::vector<CutArc> list;

 private:
  int first_layer_;
};

// All arcs from the source's side to the sink's.
void add_crossing(const Capacities& capacities, const kernel::FlowTask& task,
                  const kernel::FlowSolver& solver, Arcs& arcs) {
  for (int u = task.begin; u < task.end; ++u) {
    if (solver.sink_side(task.top - 1, u)) arcs.add(task.top, task.source, u, task.supply[u]);
    if (!solver.sink_side(task.bottom, u)) arcs.add(task.bottom, u, task.column, task.demand[u]);
    for (int k = task.bottom + 1; k < task.top; ++k) {
      if (solver.sink_side(k, u)) continue;
      for (int v = task.begin; v < task.end; ++v)
        if (solver.sink_side(k - 1, v)) arcs.add(k, u, v, capacities.row(k, u)[v]);
    }
  }
}

}  // namespace

PairFlow pair_flow(const Capacities& capacities, int source, int sink, int first_layer) {
  const int top = capacities.layers(), n = capacities.n();
  const int32_t* supply = capacities.row(top, source);
  const int32_t* demand = capacities.bottom_column(sink);
  Arcs cut(first_layer), carried(first_layer);
  if (top == 1) {
    cut.add(1, source, sink, supply[sink]);
    carried.add(1, source, sink, supply[sink]);
  } else if (top == 2) {
    for (int u = 0; u < n; ++u) {
      const bool above = supply[u] <= demand[u];
      cut.add(above ? 2 : 1, above ? source : u, above ? u : sink, above ? supply[u] : demand[u]);
      carried.add(2, source, u, std::min(supply[u], demand[u]));
      carried.add(1, u, sink, std::min(supply[u], demand[u]));
    }
  } else {
    kernel::FlowTask task;
    task.supply = supply;
    task.demand = demand;
    task.top = top;
    task.column = sink;
    task.source = source;
    task.limit = kernel::flow_unit;
    task.shown = true;
    task.begin = capacities.causal() ? sink : 0;
    task.end = capacities.causal() ? source + 1 : n;
    if (task.begin >= task.end) return {};
    Workers workers(capacities);
    workers.run(1, [&](kernel::FlowSolver& solver, int, int) {
      solver.solve(task);
      if (solver.has_cut())
        add_crossing(capacities, task, solver, cut);
      else  // all that the source has flows
        for (int u = 0; u < n; ++u) cut.add(top, source, u, supply[u]);
      for (int u = task.begin; u < task.end; ++u) {
        carried.add(top, source, u, solver.supplied(u));
        carried.add(task.bottom, u, sink, solver.demanded(u));
      }
      solver.visit_flow([&](int level, int from, int to, int32_t amount) {
        carried.add(level, from, to, amount);
      });
    });
  }
  return {std::move(cut.list), std::move(carried.list)};
}

}  // namespace headwater
