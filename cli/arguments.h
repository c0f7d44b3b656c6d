// What was typed, as values.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/evaluate_model.h"
#include "headwater/layer/options.h"
#include "headwater/method/generate.h"
#include "headwater/method/gradient.h"
#include "headwater/model/generation_input.h"
#include "headwater/model/model_input.h"
#include "headwater/result/filter.h"
#include "headwater/source/read_options.h"

namespace headwater::cli {

struct Arguments {
  std::string source;
  std::string other;  // compare: the second of two sources
  ModelInput input;
  std::string text_file;
  GenerationInput generation;      // generate
  GenerateOptions generate;        // generate
  std::optional<int> token;        // generate
  bool ignore_end = false;         // generate
  std::vector<std::string> stops;  // generate
  bool plain = false;              // generate
  ReadOptions read;
  std::optional<int> item;  // --item K
  bool all_items = false;   // --item all
  Options options;
  bool by_layer = false;
  std::optional<int> column;                                     // flow
  bool every_layer = false, normalise = false, certify = false;  // flow
  GradientOptions gradient;
  ModelEvaluation evaluation;  // evaluate
  bool faithfulness = false;   // evaluate
  int layer = -1;
  std::string by;                    // compare
  std::vector<std::string> outputs;  // -o, in the order given
  Filter filter;
  bool timing = false;
  std::string shell;            // completion
  std::string folder = "demo";  // demo
};

}  // namespace headwater::cli
