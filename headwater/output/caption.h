// Titles and captions of results.
#pragma once
#include <string>
#include <vector>

#include "headwater/result/attribution.h"
#include "headwater/result/comparison.h"
#include "headwater/result/filter.h"
#include "headwater/result/generated.h"

namespace headwater {

/// What a picture calls a source: its name, or the last part of an absolute path.
std::string source_text(const std::string& name);

/// "Attention rollout", "Average attention", "Raw attention".
std::string title_of(const Attribution& result);
/// "Rollout up to each layer", ...
std::string title_of(const Comparison& result);

/// Source, layers, heads and options, a few words each: "bert.npz", "layers 0:12", "mean of 12
/// heads", ..., and the prediction. Of a source with an absolute path, the last part. With a
/// filter, also the share of the mass that it left out (the mean over rows of the last matrix).
std::vector<std::string> details_of(const Attribution& result, const Filter& filter);
/// What relevance of generated tokens explains, a few words each: the rule, a span, and of one
/// target what its values sum to.
std::vector<std::string> relevance_details(const Generated& result);
/// The details that all panels share, and how well the panels agree.
std::vector<std::string> details_of(const Comparison& result, const Filter& filter);

/// "output token 4 'cat'", or "mean over the output tokens". `r` is a row of the values.
std::string row_name(const Attribution& result, int r);

/// "next word 'shelf' (97.1 %), then 'box' (1.2 %)".
/// `source` is what the model read, and says how words are spelt.
std::string prediction_text(const Prediction& prediction, const Description& source);

/// What the colours of signed values mean: "red speaks for 'plural', blue against it"; else "".
std::string sign_text(const Attribution& result);

/// The name of values[k] of a result by layer: "up to layer 3", "after layer 3", "input".
std::string layer_name(const Attribution& result, size_t k);

/// The labels of what result.rows indexes: the source's tokens, or the generated ones.
std::vector<std::string> output_labels(const Attribution& result, int longest = 24);

}  // namespace headwater
