// Evaluates a model on a file of examples.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/result/evaluation.h"
#include "headwater/result/filter.h"

namespace headwater {

/// The reference for importance.
enum class Against {
  automatic,  // both, or only gradient if the model has no token to blank words out with
  blank_out,
  gradient,
  both,
};

/// Parses "blank-out", "gradient" or "both". Throws Error (usage) with the nearest word.
Against parse_against(std::string_view text);

struct ModelEvaluation {
  std::string examples;      // a file as in method/evaluate/examples.h; "": the model's own
  std::optional<int> limit;  // use only this many examples, from the start; at least 1
  Filter filter;             // tokens to leave out
  Against against = Against::automatic;
  bool ignore_code = false;          // run a model even if its folder contains code of its own
  std::vector<std::string> methods;  // some of method/evaluate/evaluate.h's; empty: all
  bool faithfulness = false;         // also comprehensiveness, sufficiency and perturbation area
  Options options;
  /// Called after each example with the number done and the total.
  std::function<void(int64_t done, int64_t examples)> progress;
};

/// `name` is a model's folder or name. Opens the model once, and reads, tokenizes and checks all
/// examples before it runs the first. Throws Error, which names the example's line.
Evaluation evaluate(const std::string& name, const ModelEvaluation& what = {});

}  // namespace headwater
