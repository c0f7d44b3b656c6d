// What a model says about its input.
#pragma once
#include <optional>
#include <string>

#include "headwater/source/gradient.h"

namespace headwater {

struct Prediction {
  /// "class", "next word", "masked word", "class of a token", "answer's start"; where a token was
  /// asked about, also "next word after a token", "word of a token".
  std::string what;
  Logit best;  // the largest logit
  /// Softmax over the logits that `best` competes with; none for a model with a single output, or
  /// of regression, whose value it is.
  std::optional<double> probability;
  std::optional<Logit> second;  // the runner-up, if there is one
  double second_probability = 0;
};

}  // namespace headwater
