// A model evaluated on a file of examples.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "headwater/layer/options.h"
#include "headwater/result/evaluation.h"
#include "headwater/result/filter.h"

namespace headwater {

/// What importance is measured by.
enum class Against {
  automatic,  // both, or gradient alone where the model has no token to blank words out with
  blank_out,
  gradient,
  both,
};

struct ModelEvaluation {
  std::string examples;      // a file as method/evaluate/examples.h says; "": the model's own
  std::optional<int> limit;  // the first so many examples only
  Filter filter;             // tokens that do not count
  Against against = Against::automatic;
  bool faithfulness = false;  // also comprehensiveness, sufficiency and perturbation area
  Options options;
  /// Told after each example how many of how many are done.
  std::function<void(int64_t done, int64_t examples)> progress;
};

/// `name` is a model's folder or its name. The model is opened once. All examples are read,
/// tokenized and checked before the first is run. Throws Error, which names the example's line.
Evaluation evaluate(const std::string& name, const ModelEvaluation& what = {});

}  // namespace headwater
