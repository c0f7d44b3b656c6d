// Exact flow values for all requested pairs: decides which ways to settle a pair are tried, and in
// which order.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "headwater/method/flow/capacities.h"

namespace headwater {

/// Called from time to time with the number of settled pairs and of all pairs. Calls come from any
/// thread, never two at once. An exception stops the work.
using FlowProgress = std::function<void(int64_t settled, int64_t pairs)>;

struct FlowRequest {
  std::vector<int> sources;  // output tokens
  std::vector<int> sinks;    // input tokens
  bool every_top = false;    // every top level 1 ... L, not only L
  bool certify = false;      // check every value with plain code (certificate.h)
  FlowProgress progress;     // may be empty
};

struct FlowValues {
  /// For each top level, sources.size() x sinks.size() values in units of 2^-30.
  std::vector<std::vector<int32_t>> tops;
  /// How many values at the last level reach a maximum that holds for every source; they say
  /// nothing about the source.
  int64_t saturated = 0;
};

FlowValues flow_of_pairs(const Capacities& capacities, const FlowRequest& request);

}  // namespace headwater
