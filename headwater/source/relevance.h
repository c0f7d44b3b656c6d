// What to ask a source for the relevance of its input, and what it answers. method/relevance.h has
// the definitions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/matrix.h"
#include "headwater/source/gradient.h"

namespace headwater {

/// How relevance passes back through the model.
enum class RelevanceRule {
  frozen,      // attention weights are constants
  attnlrp,     // a quarter through queries and keys each, a half through values
  integrated,  // the derivative itself, averaged over the straight line from a baseline
};

/// What of a word is explained: its logit; or the logarithm of its probability, log p = z - log
/// sum_v e^(z_v), whose gradient is that of z minus the mean of all logits' gradients, weighted by
/// their probabilities.
enum class WordScore { logit, log_probability };

struct RelevanceRequest : TargetRequest {
  RelevanceRule rule = RelevanceRule::frozen;
  bool by_layer = false;     // also the relevance of each token after each layer
  bool heads = false;        // also the share of each head
  std::optional<int> edges;  // also the edges of this layer, 0 <= layer < L
  /// For integrated: the number of steps, at least 1; and what each token of the text is replaced
  /// by: "mask", "zero", or a word as in `target`. In an image, only "zero", the mean colour.
  int steps = 20;
  std::string baseline;  // "": mask if the vocabulary has one, else zero
  bool operator==(const RelevanceRequest&) const = default;
};

struct RelevanceAnswer {
  Target target;
  double output = 0;         // the target's logit, or the difference of two
  std::vector<float> input;  // of each token
  double sum = 0;            // of all tokens
  /// What the biases take: sum + biases = output for frozen, up to rounding. Attnlrp has no such
  /// equation. For integrated, the output at the baseline, with the same equation up to the error
  /// of the steps.
  double rest = 0;
  std::string baseline;  // for integrated, in words
  Matrix by_layer;       // L x n, if asked for
  Matrix heads;          // L x heads, if asked for
  Matrix edges;          // n x n, if asked for
};

}  // namespace headwater
