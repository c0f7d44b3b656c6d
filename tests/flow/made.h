// Flow on layers that a test made: as integers, and through the whole method.
#pragma once
#include <numeric>
#include <vector>

#include "headwater/method/flow/capacities.h"
#include "headwater/method/flow/flow.h"
#include "headwater/method/flow/pairs.h"
#include "tests/support/in_memory.h"

namespace headwater::test {

inline Capacities capacities_of(const std::vector<Matrix>& layers) {
  Capacities capacities(layers.front().rows());
  for (const Matrix& layer : layers) capacities.add(layer);
  return capacities;
}

/// All pairs, always certified: F[i * n + t] in units of 2^-30, for the top layer or for each.
inline std::vector<std::vector<int32_t>> flows_of(const Capacities& capacities,
                                                  bool every_top = false) {
  FlowRequest request;
  request.sources.resize(static_cast<size_t>(capacities.n()));
  std::iota(request.sources.begin(), request.sources.end(), 0);
  request.sinks = request.sources;
  request.every_top = every_top;
  request.certify = true;
  return flow_of_pairs(capacities, request).tops;
}

inline std::vector<int32_t> flows_of(const std::vector<Matrix>& layers) {
  return flows_of(capacities_of(layers)).front();
}

/// The capacities of the layers up to `top` as plain lists.
inline std::vector<std::vector<int32_t>> lists_of(const Capacities& capacities, int top) {
  std::vector<std::vector<int32_t>> lists;
  for (int l = 1; l <= top; ++l) {
    lists.emplace_back();
    for (int i = 0; i < capacities.n(); ++i)
      lists.back().insert(lists.back().end(), capacities.row(l, i),
                          capacities.row(l, i) + capacities.n());
  }
  return lists;
}

/// The layers as attention of one head; ask for residual 0 to get them back.
inline Attention attention_of(const std::vector<Matrix>& layers) {
  const int n = layers.front().rows();
  Attention out{static_cast<int>(layers.size()), 1, 1, n, {}};
  for (const Matrix& layer : layers)
    out.values.insert(out.values.end(), layer.data(), layer.data() + layer.size());
  return out;
}

/// Options under which prepared layers stay what they are.
inline Options as_they_are() {
  Options options;
  options.residual = 0;
  return options;
}

inline FlowOptions certified() {
  FlowOptions options;
  options.certify = true;
  return options;
}

}  // namespace headwater::test
