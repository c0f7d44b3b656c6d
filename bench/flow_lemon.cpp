// Compiled as C++17: LEMON is no C++20.
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "bench/flow_competitors.h"

namespace headwater::bench {
namespace {

using Graph = lemon::SmartDigraph;

class Lemon : public Competitor {
 public:
  Lemon(const Layers& layers, int n) : n_(n), levels_(static_cast<int>(layers.size()) + 1) {
    for (int k = 0; k < levels_ * n; ++k) nodes_.push_back(graph_.addNode());
    for (int l = 1; l < levels_; ++l)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          if (const int32_t c = layers[static_cast<size_t>(l) - 1][static_cast<size_t>(i * n + j)])
            capacity_[graph_.addArc(node(l, i), node(l - 1, j))] = c;
  }
  int64_t flow(int i, int t) override {
    lemon::Preflow<Graph, Graph::ArcMap<int64_t>> solver(graph_, capacity_, node(levels_ - 1, i),
                                                         node(0, t));
    solver.runMinCut();
    return solver.flowValue();
  }

 private:
  Graph::Node node(int level, int i) const { return nodes_[static_cast<size_t>(level * n_ + i)]; }
  int n_, levels_;
  Graph graph_;
  Graph::ArcMap<int64_t> capacity_{graph_};
  std::vector<Graph::Node> nodes_;
};

}  // namespace

std::unique_ptr<Competitor> lemon_preflow(const Layers& layers, int n) {
  return std::make_unique<Lemon>(layers, n);
}

}  // namespace headwater::bench
