// Evaluation: how far attention agrees with what a model's output really hangs on.
//
// An example is an input x of n tokens and a target y, one logit of the model; p(x) is its softmax
// probability. Its row i is the output token that the target is read from (a class: the token that
// the head reads; a word: the place where it is predicted), unless a row is asked for. C are the
// tokens that count: all of a text (for causal attention, those up to row i), the patches of an
// image; options may leave out more.
//
// References: how important token j is to the model itself.
//   blank-out   b_j = p(x) - p(x without j), token j being blanked out alone
//   (Differentiable::outcome) gradient    g_j = |dy/de_j|, e_j the token's own embedding
//   (gradient.h)
// Methods, row i of each, for every layer l of the range j ... i-1:
//   raw               the fused attention of layer l, nothing added
//   rollout           rollout over layers j ... l (rollout.h)
//   flow              exact maximum flow over layers j ... l (flow.h)
//   gradient          G_l of layer l
//   gradient-rollout  over layers j ... l
//   chefer            over layers j ... l, all three as gradient.h says
//
// Correlation (Abnar and Zuidema 2020, tables 1 and 2). Spearman's rank correlation between a
// method's row and a reference over the tokens of C, equal values at their average rank. Mean and
// standard deviation (of the population) over the examples; an example where either is constant on
// C has none and is left out of that mean, and counted.
//
// Truth. Where the tokens T that the answer must come from are known: with D the tokens of C that
// the text or the image itself gave, and M those of D with a row's largest value, the example's hit
// is |M and T| / |M|: 1 if the top token is a true one, 0 if not, the chance of drawing a true one
// where several share the top. Chance is |D and T| / |D|. Both are means over the examples that say
// the truth.
//
// Faithfulness, of each method over all layers of the range and of the references; method/
// faithfulness.h has the definitions.
//
// Cost of an example: two forward passes and a backward pass, exact flow of one row from each layer
// (the most of it for long inputs), |C| forward passes for blank-out, and for faithfulness at most
// 20 for each method.
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

/// What is asked of one example.
struct Question {
  int line = 0;                   // where it stands in its file
  std::string target = "best";    // as in source/gradient.h
  std::optional<int> target_row;  // the token whose word is meant; none: as the model has it
  std::vector<bool> counted;      // of the tokens; empty: all
  std::vector<bool> truth;        // of the tokens; empty: not known
};

class Evaluator {
 public:
  /// options.row is the output token, all: that of the target. Throws Error (usage) for rows that
  /// are no single token, and for preset metrics, whose product gradients do not know.
  Evaluator(const Options& options, const EvaluateOptions& what);
  /// Throws Error for a source that is no model, and as Differentiable do.
  void add(Source& source, const Question& question);
  /// Of all examples so far, at least one.
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
  void add_correlations(Evaluation& out) const;

  Options options_;
  EvaluateOptions what_;
  Evaluation so_far_;                                    // without what is over all examples
  std::vector<std::string> all_methods_;                 // those with layers, then the references
  std::vector<Samples> correlations_;                    // for each reference
  Samples hits_;                                         // of all methods
  std::vector<double> chances_;                          // an entry an example
  std::vector<std::vector<Faithfulness>> faithfulness_;  // [method][example], of all methods
};

}  // namespace headwater
