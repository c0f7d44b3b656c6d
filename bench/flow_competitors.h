// Maximum flow by libraries, a pair at a time, on the same integers.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace headwater::bench {

class Competitor {
 public:
  virtual ~Competitor() = default;
  /// From token i of the top level to token t of level 0.
  virtual int64_t flow(int i, int t) = 0;
};

/// layers[l][i * n + j]: capacity of (l + 1, i) -> (l, j). The graph is built once.
using Layers = std::vector<std::vector<int32_t>>;
std::unique_ptr<Competitor> lemon_preflow(const Layers& layers, int n);
std::unique_ptr<Competitor> igraph_push_relabel(const Layers& layers, int n);

}  // namespace headwater::bench
