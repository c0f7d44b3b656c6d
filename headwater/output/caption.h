// What a result is called, for titles and first lines.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/attribution.h"
#include "headwater/result/comparison.h"
#include "headwater/result/filter.h"

namespace headwater {

/// "Attention rollout", "Average attention", "Raw attention".
std::string title_of(const Attribution& result);
/// "Rollout up to each layer", ...
std::string title_of(const Comparison& result);

/// Source, layers, heads and options, each a few words: "bert.npz", "layers 0:12", "mean of 12
/// heads", ... With a filter, how much of the mass it left out (the mean over rows of the last
/// matrix).
std::vector<std::string> details_of(const Attribution& result, const Filter& filter);
/// Those that all panels share, and how far the panels agree.
std::vector<std::string> details_of(const Comparison& result, const Filter& filter);

/// "output token 4 'cat'", or "mean over the output tokens". `r` counts the rows of the values.
std::string row_name(const Attribution& result, int r);

/// What result.rows counts: the source's tokens, or those that were generated.
const std::vector<std::string>& output_tokens(const Attribution& result);

}  // namespace headwater
