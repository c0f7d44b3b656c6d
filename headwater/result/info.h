// What is known about a source before anything is computed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/source/description.h"
#include "headwater/source/prediction.h"

namespace headwater {

struct Info {
  Description source;
  std::string reading;  // how the arrays were read
  bool causal = false;  // the lowest layer has nothing above the diagonal
  std::string kernel;   // the instruction set in use
  int threads = 1;
  std::optional<ModelFacts> model;       // what the model is, if the source is one
  std::optional<Prediction> prediction;  // what it says about the input, if it was asked
  std::vector<std::string> notes;
};

}  // namespace headwater
