#include "tests/flow/lemon.h"

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

namespace headwater::test {

std::vector<int64_t> flows_by_lemon(const std::vector<std::vector<int32_t>>& layers, int n) {
  using Graph = lemon::SmartDigraph;
  Graph graph;
  Graph::ArcMap<int64_t> capacity(graph);
  const int levels = static_cast<int>(layers.size()) + 1;
  std::vector<Graph::Node> nodes;
  for (int k = 0; k < levels * n; ++k) nodes.push_back(graph.addNode());
  const auto node = [&](int level, int i) { return nodes[static_cast<size_t>(level * n + i)]; };
  for (int l = 1; l < levels; ++l)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (const int32_t c = layers[static_cast<size_t>(l) - 1][static_cast<size_t>(i * n + j)])
          capacity[graph.addArc(node(l, i), node(l - 1, j))] = c;
  std::vector<int64_t> values;
  for (int i = 0; i < n; ++i) {
    for (int t = 0; t < n; ++t) {
      lemon::Preflow<Graph, Graph::ArcMap<int64_t>> solver(graph, capacity, node(levels - 1, i),
                                                           node(0, t));
      solver.runMinCut();
      values.push_back(solver.flowValue());
    }
  }
  return values;
}

}  // namespace headwater::test
