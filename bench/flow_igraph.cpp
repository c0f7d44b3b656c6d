#include <igraph/igraph.h>

#include "bench/flow_competitors.h"

namespace headwater::bench {
namespace {

class Igraph : public Competitor {
 public:
  Igraph(const Layers& layers, int n) : n_(n), levels_(static_cast<int>(layers.size()) + 1) {
    igraph_vector_int_t edges;
    igraph_vector_int_init(&edges, 0);
    igraph_vector_init(&capacity_, 0);
    for (int l = 1; l < levels_; ++l)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          if (const int32_t c =
                  layers[static_cast<size_t>(l) - 1][static_cast<size_t>(i * n + j)]) {
            igraph_vector_int_push_back(&edges, l * n + i);
            igraph_vector_int_push_back(&edges, (l - 1) * n + j);
            igraph_vector_push_back(&capacity_, c);
          }
    igraph_create(&graph_, &edges, levels_ * n, IGRAPH_DIRECTED);
    igraph_vector_int_destroy(&edges);
  }
  ~Igraph() override {
    igraph_destroy(&graph_);
    igraph_vector_destroy(&capacity_);
  }
  int64_t flow(int i, int t) override {
    igraph_real_t value = 0;
    igraph_maxflow_value(&graph_, &value, (levels_ - 1) * n_ + i, t, &capacity_, nullptr);
    return static_cast<int64_t>(value);
  }

 private:
  int n_, levels_;
  igraph_t graph_;
  igraph_vector_t capacity_;
};

}  // namespace

std::unique_ptr<Competitor> igraph_push_relabel(const Layers& layers, int n) {
  return std::make_unique<Igraph>(layers, n);
}

}  // namespace headwater::bench
