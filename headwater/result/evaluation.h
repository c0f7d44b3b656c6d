// How well methods agree with what a model's output really depends on, over a file of examples.
// method/evaluate/evaluate.h has the definitions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/result/attribution.h"

namespace headwater {

/// Over examples; NaN if there are none.
struct Spread {
  double mean = 0, deviation = 0;
  int count = 0;
};

/// One method's numbers: one for each layer of the range, or a single one for a reference.
struct MethodSpread {
  std::string method;
  std::vector<Spread> layers;
};

/// Correlations with one reference.
struct CorrelationTable {
  std::string against;  // "blank-out", "gradient"
  std::vector<MethodSpread> methods;
};

struct TruthTable {
  std::vector<MethodSpread> methods;  // how often the top token is a true one
  Spread chance = {};
  /// With k true tokens, the share of the k top tokens that is true. Empty if no example has
  /// several.
  std::vector<MethodSpread> found = {};
};

struct FaithfulnessSpread {
  std::string method;
  Spread comprehensiveness, sufficiency, area;
  std::vector<double> curve;  // mean probability after each step
};

/// The numbers of one example. correlation[reference][method][layer] is NaN if it is undefined.
struct ExampleRecord {
  int line = 0;
  std::vector<std::string> tokens;
  int row = 0;
  Logit target;
  std::optional<double> probability;  // if anything was blanked out
  std::vector<bool> counted;
  std::vector<float> blank_out, gradient;  // for every token; blank-out is 0 if it does not count
  std::vector<std::vector<std::vector<double>>> correlation;
};

struct EvaluateOptions {
  bool blank_out = true, gradient = true;  // the references to compute
  bool faithfulness = false;
  std::vector<std::string> methods = {};  // some of method/evaluate/evaluate.h's; empty: all
};

struct Evaluation {
  std::string file;  // of the examples
  Options options;
  EvaluateOptions what;
  Range layers;
  Description source;                // of the first example
  std::vector<std::string> methods;  // those with layers, in the order of every table
  std::vector<ExampleRecord> examples;
  std::vector<CorrelationTable> correlations;
  std::optional<TruthTable> truth;
  std::vector<FaithfulnessSpread> faithfulness;
  std::vector<std::string> notes;
  Timing timing;
};

}  // namespace headwater
