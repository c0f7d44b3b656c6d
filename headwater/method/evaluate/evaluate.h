// Evaluation: how well attention agrees with what a model's output really depends on.
//
// An example is an input x of n tokens and a target y, one logit of the model; p(x) is its softmax
// probability. The example's row i is the output token that the target is read from, unless another
// row is requested: for a class, the token that the classifier reads; for a word, the position that
// predicts it. C is the set of tokens that count: all tokens of a text (for causal attention, those
// up to row i), or the patches of an image. Options may leave out more.
//
// References: how important token j is to the model itself.
//   blank-out   b_j = p(x) - p(x without j), j alone blanked out (Differentiable::outcome)
//   gradient    g_j = |dy/de_j|, with e_j the token's own embedding (gradient.h)
// Methods: row i of each, for every layer l of the range a ... b-1.
//   raw               the fused attention of layer l, unchanged
//   rollout           rollout over layers a ... l (rollout.h)
//   flow              exact maximum flow over layers a ... l (flow.h)
//   gradient          G_l of layer l (gradient.h)
//   gradient-rollout  over layers a ... l (gradient.h)
//   chefer            over layers a ... l (gradient.h)
//
//   gradient-x-input  dy/de_j . e_j (gradient.h); this and the next for all layers at once
//   frozen, attnlrp, integrated   relevance by these rules (relevance.h); integrated from the mask
//                     token, or from zero where there is none. If y is one of two classes, p
//                     depends on the difference of their logits alone, and these four explain that
//
// Correlation (Abnar and Zuidema 2020, tables 1 and 2): Spearman's rank correlation between a
// method's row and a reference over the tokens of C, with average ranks for ties. Tables give the
// mean and the population standard deviation over the examples. An example where either is constant
// on C has no correlation: it is left out of the mean and counted.
//
// Truth: some examples name the tokens T that the answer must come from. Let D be the tokens of C
// that belong to the text or image itself, and M those of D with the row's largest value. The
// example's hit is |M and T| / |M|: 1 if the top token is true, 0 if not, and the share of true
// tokens if several tie. Chance is |D and T| / |D|. Both are averaged over the examples with a T.
//
// Faithfulness: of each method over all layers of the range, and of the references. faithfulness.h
// has the definitions.
//
// Cost of an example: two forward passes and a backward pass; exact flow of one row from each
// layer, which dominates for long inputs; |C| forward passes for blank-out; and for faithfulness at
// most 20 for each method.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/method/evaluate/faithfulness.h"
#include "headwater/method/evaluate/layered_rows.h"
#include "headwater/result/evaluation.h"
#include "headwater/source/differentiable.h"

namespace headwater {

/// What to ask about one example.
struct Question {
  int line = 0;                   // its line in the file
  std::string target = "best";    // as in source/gradient.h
  std::optional<int> target_row;  // the token whose word is meant; none: the model's choice
  std::vector<bool> counted;      // for each token; empty: all
  std::vector<bool> truth;        // for each token; empty: unknown
};

/// Throws Error (usage), with the nearest name, for a method that is not one of the above.
void check_method(const std::string& name);

class Evaluator {
 public:
  /// options.row is the output token; Row::all means the target's own. Throws Error (usage) for a
  /// row that is not a single token, and for preset metrics, which gradient rules do not support.
  Evaluator(const Options& options, const EvaluateOptions& what);
  /// Throws Error for a source that is not a model, and as Differentiable does.
  void add(Source& source, const Question& question);
  /// The results for all examples so far; there must be at least one.
  Evaluation result(std::string file) const;

 private:
  using Samples = std::vector<std::vector<std::vector<double>>>;  // [method][layer][example]
  struct NamedValues;
  static std::vector<NamedValues> all_values(const std::vector<LayeredRow>& rows,
                                             const ExampleRecord& record);
  void correlate(const std::vector<LayeredRow>& rows, const std::vector<int>& counted,
                 ExampleRecord& record);
  void point(const std::vector<NamedValues>& values, const std::vector<int>& given,
             const std::vector<bool>& truth);
  std::vector<MethodSpread> spreads_of(const Samples& samples) const;
  void add_correlations(Evaluation& out) const;

  Options options_;
  EvaluateOptions what_;
  Evaluation so_far_;                                    // without what needs all examples
  std::vector<std::string> all_methods_;                 // those with layers, then the references
  std::vector<Samples> correlations_;                    // for each reference
  Samples hits_, found_;                                 // for all methods
  size_t most_true_ = 0;                                 // tokens of an example
  bool one_of_two_ = false;                              // targets are one of two classes
  std::vector<double> chances_;                          // one for each example
  std::vector<std::vector<Faithfulness>> faithfulness_;  // [method][example], for all methods
};

}  // namespace headwater
