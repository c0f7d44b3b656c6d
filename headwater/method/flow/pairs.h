// Exact flow values for all pairs asked for: which of the ways to settle a pair is tried when.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "headwater/method/flow/capacities.h"

namespace headwater {

/// Told now and then how many of how many pairs are settled, from any thread but never from two at
/// once. May throw to stop the work.
using FlowProgress = std::function<void(int64_t settled, int64_t pairs)>;

struct FlowRequest {
  std::vector<int> sources;  // output tokens
  std::vector<int> sinks;    // input tokens
  bool every_top = false;    // top layers 1 ... L rather than L alone
  bool certify = false;      // every value is checked with plain code, as flow_certificate.h says
  FlowProgress progress;     // may be empty
};

struct FlowValues {
  /// One for each top layer: sources.size() x sinks.size() values in units of 2^-30.
  std::vector<std::vector<int32_t>> tops;
  /// Of the last: values that no source could exceed, so that they say nothing about it.
  int64_t saturated = 0;
};

FlowValues flow_of_pairs(const Capacities& capacities, const FlowRequest& request);

}  // namespace headwater
