// What to ask a source that can differentiate, and what it answers.
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
  int id = 0;        // the number of the class or word; -1: it has none
  int row = 0;       // the token that it belongs to, or that the classifier reads; -1: unknown
  double value = 0;
  double probability = 0;  // as in Outcome; NaN if it is not known
};

/// What is differentiated: a logit, or the difference of two.
struct Target {
  Logit logit;
  std::optional<Logit> against;
};

/// The number that is asked about.
inline double output_of(const Target& target) {
  return target.logit.value - (target.against ? target.against->value : 0);
}

/// Which logit is meant, in words.
struct TargetRequest {
  /// "best" is the largest logit. Otherwise: a class by name or number; a word by itself, by id, or
  /// as "token:WORD" if it is ambiguous; "start:K" or "end:K", or "start" or "end" for the best.
  std::string target = "best";
  std::string against;     // the same, or "": none; "best" is the runner-up
  std::optional<int> row;  // the token whose word or class is meant, if every token has one
  bool operator==(const TargetRequest&) const = default;
};

/// Which logit to differentiate, and which maps to return.
struct GradientRequest : TargetRequest {
  Fuse fuse;
  Range range;  // the layers whose maps are wanted
};

/// The target's gradient with respect to each token's own embedding, before positions, types and
/// norms: its Euclidean norm, and the sum over the entries of gradient x embedding.
struct InputGradient {
  std::vector<float> norm, times_input;
};

struct GradientAnswer {
  Target target;
  InputGradient input;
};

/// A logit after some tokens were blanked out.
struct Outcome {
  double logit = 0;
  /// Softmax over the logits it competes with: the classes, the vocabulary, or, for starts and ends
  /// of answers, the tokens. For a single class, 1 / (1 + e^-logit).
  double probability = 0;
};

}  // namespace headwater
