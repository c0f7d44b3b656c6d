// What a source that can differentiate is asked for, and what it answers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/range.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// One logit of a model.
struct Logit {
  std::string name;  // of its class or word, or "start:K", "end:K"
  int id = 0;        // the number of the class or word
  int row = 0;  // the token whose logit it is; of classes of a whole input, the one read for it
  double value = 0;
};

/// What is differentiated: a logit, or the difference of two.
struct Target {
  Logit logit;
  std::optional<Logit> against;
};

/// Which logit, in words, and which maps.
struct GradientRequest {
  /// "best" is the largest logit. Else a class by name or number; a word, "token:WORD" where it
  /// looks like something else, or its id; "start:K" or "end:K", or "start", "end" for the best.
  std::string target = "best";
  std::string against;     // the same, or "": none; "best" is the largest but the target
  std::optional<int> row;  // the token whose word or class is meant, where every token has one
  Fuse fuse;
  Range range;  // of layers whose maps are wanted
};

/// Of the target with respect to each token's own embedding, as it is before positions, types and
/// norms: the Euclidean norm of the gradient, and the sum over its numbers of gradient x embedding.
struct InputGradient {
  std::vector<float> norm, times_input;
};

struct GradientAnswer {
  Target target;
  InputGradient input;
};

/// What becomes of a logit when tokens are blanked out.
struct Outcome {
  double logit = 0;
  /// Its share among the logits that it stands beside (softmax): the classes, the words of the
  /// vocabulary, or for starts and ends of answers the tokens. Of a single class, 1 / (1 +
  /// e^-logit).
  double probability = 0;
};

}  // namespace headwater
