// Titles and captions of results.
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

/// Source, layers, heads and options, a few words each: "bert.npz", "layers 0:12", "mean of 12
/// heads", ... With a filter, also the share of the mass that it left out (the mean over rows of
/// the last matrix).
std::vector<std::string> details_of(const Attribution& result, const Filter& filter);
/// The details that all panels share, and how well the panels agree.
std::vector<std::string> details_of(const Comparison& result, const Filter& filter);

/// "output token 4 'cat'", or "mean over the output tokens". `r` is a row of the values.
std::string row_name(const Attribution& result, int r);

/// What the colours of signed values mean: "red speaks for 'plural', blue against it"; else "".
std::string sign_text(const Attribution& result);

/// The name of values[k] of a result by layer: "up to layer 3", "after layer 3", "input".
std::string layer_name(const Attribution& result, size_t k);

/// What result.rows indexes: the source's tokens, or the generated ones.
const std::vector<std::string>& output_tokens(const Attribution& result);

}  // namespace headwater
