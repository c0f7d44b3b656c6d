#include "headwater/method/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headwater/method/evaluate/truth.h"
#include "tests/support/expect_error.h"

namespace headwater {
namespace {

using test::expect_error;

// Three tokens, two layers, and a model whose probability is 0.9 less what each blanked token
// costs.
class ThreeTokens : public Source, public Differentiable {
 public:
  ThreeTokens() {
    example_.kind = "model";
    example_.name = "three";
    example_.tokens = {"a", "b", "c"};
    example_.layers = 2;
    example_.heads = {1, 1};
    example_.causal = false;
    example_.places = {{0, 0, 1}, {0, 2, 3}, {0, 4, 5}};
  }

  const Description& description() const override { return example_; }
  Description& description() { return example_; }
  void layers(Fuse, Range range, Direction direction, const Visit& visit) override {
    for (int k = 0; k < range.size(); ++k) {
      const int layer = direction == Direction::up ? range.begin + k : range.end - 1 - k;
      Matrix map = with_first_row(rows[static_cast<size_t>(layer)], 1);
      visit(layer, map);
    }
  }
  Differentiable* differentiable() override { return this; }
  GradientAnswer gradients(const GradientRequest& request, const Visit& visit) override {
    asked = request;
    for (int layer = request.range.end - 1; layer >= request.range.begin; --layer) {
      Matrix map = with_first_row(gradient_rows[static_cast<size_t>(layer)], 0);
      visit(layer, map);
    }
    GradientAnswer answer;
    answer.target.logit = {"yes", 1, request.row.value_or(0), 2.0};
    answer.input.norm = norms;
    answer.input.times_input = {-1, 2, 1};
    if (!request.against.empty()) answer.input.times_input = {5, 1, 3};
    return answer;
  }
  RelevanceAnswer relevance(const RelevanceRequest& request) override {
    EXPECT_EQ(request.target, asked.target);
    EXPECT_EQ(request.row, asked.row);
    EXPECT_EQ(request.against, two ? "best" : "");
    RelevanceAnswer answer;
    answer.input = relevances[static_cast<size_t>(request.rule)];
    return answer;
  }
  Outcome outcome(const Logit& logit, std::span<const int> blanked) override {
    EXPECT_EQ(logit.name, "yes");
    ++outcomes;
    double probability = 0.9;
    for (const int j : blanked) probability -= costs[static_cast<size_t>(j)];
    return {0, probability};
  }

  std::vector<Vector> rows = {{0.2f, 0.5f, 0.3f}, {0.1f, 0.3f, 0.6f}};
  std::vector<Vector> gradient_rows = {{0.3f, 0.1f, 0}, {0, 0.2f, 0.1f}};
  Vector norms = {1, 3, 2};
  std::vector<Vector> relevances = {{-1, 3, 2}, {3, 2, 1}, {2, 1, 3}};  // by rule
  std::vector<double> costs = {0.1, 0.4, 0.2};
  bool one_of_two() const override { return two; }

  GradientRequest asked;
  int outcomes = 0;
  bool two = false;

 private:
  // Below it `diagonal` times the identity.
  static Matrix with_first_row(const Vector& row, float diagonal) {
    Matrix map(3, 3);
    std::ranges::copy(row, map.row(0).begin());
    map(1, 1) = map(2, 2) = diagonal;
    return map;
  }

  Description example_;
};

Evaluation evaluate(ThreeTokens& source, const Question& question, EvaluateOptions what = {},
                    const Options& options = {}) {
  Evaluator evaluator(options, what);
  evaluator.add(source, question);
  return evaluator.result("three.jsonl");
}

std::vector<double> means(const std::vector<MethodSpread>& methods, const std::string& name) {
  std::vector<double> out;
  for (const MethodSpread& method : methods)
    if (method.method == name)
      for (const Spread& spread : method.layers) out.push_back(spread.mean);
  return out;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 1e-6) << k;
}

TEST(Evaluate, ExplainsTheDifferenceOfTwoClassesByMethodsThatFollowTheWholeModel) {
  ThreeTokens source;
  source.two = true;
  const Evaluation result = evaluate(source, {});
  const auto& methods = result.correlations[0].methods;
  // Blank-out has the ranks 1 3 2, gradient x input now 3 1 2; relevance checks what it is asked.
  expect_near(means(methods, "gradient-x-input"), {-1});
  expect_near(means(methods, "frozen"), {1});
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("difference between the two logits"), std::string::npos);
  EvaluateOptions attention;
  attention.methods = {"rollout"};
  EXPECT_TRUE(evaluate(source, {}, attention).notes.empty());
}

TEST(Evaluate, CorrelatesEachMethodAtEachLayerAsAPersonWould) {
  ThreeTokens source;
  const Evaluation result = evaluate(source, {});
  ASSERT_EQ(result.correlations.size(), 2u);
  EXPECT_EQ(result.correlations[0].against, "blank-out");
  expect_near({result.examples[0].blank_out.begin(), result.examples[0].blank_out.end()},
              {0.1, 0.4, 0.2});
  const auto& methods = result.correlations[0].methods;
  // Blank-out has the ranks 1 3 2. Raw: 1 3 2, then 1 2 3.
  expect_near(means(methods, "raw"), {1, 0.5});
  // (0.6 0.25 0.15), then 0.55 of it, 0.15 more of b and 0.3 of c: (0.33 0.2875 0.3825).
  expect_near(means(methods, "rollout"), {-0.5, -0.5});
  // One layer as rollout; two: sums of minima (0.55 0.4 0.45).
  expect_near(means(methods, "flow"), {-0.5, -1});
  expect_near(means(methods, "gradient"), {-0.5, 1});
  // (1.3 0.1 0), then (1 0.2 0.1) + 1 * (0.3 0.1 0).
  expect_near(means(methods, "chefer"), {-0.5, -0.5});
  // One number each: these follow the whole model. Signs count.
  expect_near(means(methods, "gradient-x-input"), {1});
  expect_near(means(methods, "frozen"), {1});
  expect_near(means(methods, "attnlrp"), {-0.5});
  expect_near(means(methods, "integrated"), {-0.5});
  // The same ranks in the other reference.
  expect_near(means(result.correlations[1].methods, "raw"), {1, 0.5});
}

TEST(Evaluate, HasOnlyTheMethodsThatWereAskedFor) {
  ThreeTokens source;
  const Evaluation result =
      evaluate(source, {}, {.faithfulness = true, .methods = {"frozen", "rollout"}});
  EXPECT_EQ(result.methods, (std::vector<std::string>{"rollout", "frozen"}));
  std::vector<std::string> found;
  for (const FaithfulnessSpread& one : result.faithfulness) found.push_back(one.method);
  EXPECT_EQ(found, (std::vector<std::string>{"rollout", "frozen", "input-gradient", "blank-out"}));
  expect_error(Error::Kind::usage, {"'frozzen'", "did you mean 'frozen'"},
               [] { Evaluator({}, {.methods = {"frozzen"}}); });
}

TEST(Evaluate, GivesMeanAndDeviationOverExamples) {
  ThreeTokens one, other;
  other.costs = {0.1, 0.2, 0.4};  // raw: 0.5, then 1
  Evaluator evaluator({}, {.gradient = false});
  evaluator.add(one, {});
  evaluator.add(other, {});
  const Evaluation result = evaluator.result("");
  ASSERT_EQ(result.correlations.size(), 1u);
  const Spread& raw = result.correlations[0].methods[0].layers[0];
  EXPECT_NEAR(raw.mean, 0.75, 1e-12);
  EXPECT_NEAR(raw.deviation, 0.25, 1e-12);
  EXPECT_EQ(raw.count, 2);
  EXPECT_TRUE(result.notes.empty());
}

TEST(Evaluate, LeavesOutAndCountsWhatHasNoCorrelation) {
  ThreeTokens varied, constant;
  constant.norms = {1, 1, 1};
  Evaluator evaluator({}, {.blank_out = false});
  evaluator.add(varied, {});
  evaluator.add(constant, {});
  const Evaluation result = evaluator.result("");
  EXPECT_EQ(result.correlations[0].methods[0].layers[0].count, 1);
  EXPECT_NEAR(result.correlations[0].methods[0].layers[0].mean, 1, 1e-12);
  EXPECT_TRUE(std::isnan(result.examples[1].correlation[0][0][0]));
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("1 of 2"), std::string::npos) << result.notes[0];
  EXPECT_EQ(constant.outcomes, 0);
}

TEST(Evaluate, CountsOnlyTheTokensAskedFor) {
  ThreeTokens source;
  Question question;
  question.counted = {false, true, true};
  const Evaluation result = evaluate(source, question);
  // b before c in blank-out and in layer 0, after it in layer 1.
  expect_near(means(result.correlations[0].methods, "raw"), {1, -1});
  EXPECT_EQ(result.examples[0].blank_out[0], 0);
}

TEST(Evaluate, LooksNoFurtherThanTheRowWhereAttentionIsCausal) {
  ThreeTokens source;
  source.description().causal = true;
  Question question;
  question.target_row = 1;
  const Evaluation result = evaluate(source, question);
  EXPECT_EQ(result.examples[0].row, 1);
  EXPECT_EQ(result.examples[0].counted, (std::vector<bool>{true, true, false}));
}

TEST(Evaluate, HandsTargetAndRowToTheModel) {
  ThreeTokens source;
  Options options;
  options.row = {Row::Kind::index, -1};
  Question question;
  question.target = "plural";
  const Evaluation result = evaluate(source, question, {}, options);
  EXPECT_EQ(source.asked.target, "plural");
  EXPECT_EQ(source.asked.row, 2);
  EXPECT_EQ(result.examples[0].row, 2);
}

TEST(Evaluate, SaysHowOftenTheTopTokenIsATrueOne) {
  ThreeTokens source;
  Question question;
  question.truth = true_tokens(source.description(), {{2, 3}});
  const Evaluation result = evaluate(source, question);
  ASSERT_TRUE(result.truth);
  EXPECT_NEAR(result.truth->chance.mean, 1.0 / 3, 1e-12);
  expect_near(means(result.truth->methods, "raw"), {1, 0});
  expect_near(means(result.truth->methods, "rollout"), {0, 0});
  expect_near(means(result.truth->methods, "blank-out"), {1});
  expect_near(means(result.truth->methods, "input-gradient"), {1});
}

TEST(Evaluate, SaysHowManyOfSeveralTrueTokensAreOnTop) {
  ThreeTokens source;
  source.rows[0] = {0.3f, 0.5f, 0.2f};
  source.rows[1] = {0.2f, 0.4f, 0.4f};
  Question question;
  question.truth = true_tokens(source.description(), {{0, 1}, {2, 3}});
  const Evaluation both = evaluate(source, question);
  expect_near(means(both.truth->found, "raw"), {1, 0.5});
  question.truth = true_tokens(source.description(), {{2, 3}, {4, 5}});
  source.rows[0] = {0.4f, 0.3f, 0.3f};  // two share the second place
  const Evaluation tied = evaluate(source, question);
  expect_near(means(tied.truth->found, "raw"), {0.5, 1});
  question.truth = true_tokens(source.description(), {{2, 3}});
  EXPECT_TRUE(evaluate(source, question).truth->found.empty());
}

TEST(Evaluate, DoesNotPointAtTokensThatTheTokenizerAdded) {
  ThreeTokens source;
  source.description().places[0].text = -1;
  source.rows[1] = {0.2f, 0.4f, 0.4f};
  Question question;
  question.truth = true_tokens(source.description(), {{2, 3}});
  const Evaluation result = evaluate(source, question);
  EXPECT_NEAR(result.truth->chance.mean, 0.5, 1e-12);
  // Among b and c: b is first in layer 0, and they share the first place in layer 1.
  expect_near(means(result.truth->methods, "raw"), {1, 0.5});
  EXPECT_EQ(means(result.truth->methods, "rollout")[0], 1);
}

TEST(Evaluate, RefusesRowsAndPresetsThatMeanNothingHere) {
  Options mean;
  mean.row.kind = Row::Kind::mean;
  expect_error(Error::Kind::usage, {"`row` mean"}, [&] { Evaluator(mean, {}); });
  expect_error(Error::Kind::usage, {"`preset` metrics"},
               [] { Evaluator(options_of(Preset::metrics), {}); });
}

TEST(Faithfulness, IsWhatAPersonFindsByHand) {
  ThreeTokens source;
  const Evaluation result = evaluate(source, {}, {.faithfulness = true});
  const FaithfulnessSpread& best = result.faithfulness.back();
  EXPECT_EQ(best.method, "blank-out");
  // Of three tokens 1, 5, 10 and 20 % are one (b), 50 % are two (b, c).
  EXPECT_NEAR(best.comprehensiveness.mean, (4 * 0.4 + 0.6) / 5, 1e-12);
  EXPECT_NEAR(best.sufficiency.mean, (4 * 0.3 + 0.1) / 5, 1e-12);
  expect_near(best.curve, {0.9, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.2});
  EXPECT_NEAR(best.area.mean, 0.355, 1e-12);
  // Three tokens have eight sets, and each is asked for once at most.
  EXPECT_LE(source.outcomes, 8);
}

TEST(Truth, TakesPatchesWhoseMiddleLiesInTheBox) {
  Description example;
  example.tokens = {"[CLS]", "0,0", "0,1", "1,0", "1,1"};
  example.patches.emplace();
  example.patches->seen = {10, 0, 20, 20};
  example.patches->rows = example.patches->columns = 2;
  example.patches->prefix = 1;
  EXPECT_EQ(true_patches(example, {14, 4, 2, 12}),
            (std::vector<bool>{false, true, false, true, false}));
  expect_error(Error::Kind::work, {"box [0, 0, 10, 10]", "no patch"}, [&] {
    true_patches(example, {0, 0, 10, 10});
  });
}

TEST(Truth, TakesTokensThatShareAByteWithASpan) {
  ThreeTokens source;
  EXPECT_EQ(true_tokens(source.description(), {{0, 1}, {3, 5}}),
            (std::vector<bool>{true, false, true}));
  expect_error(Error::Kind::work, {"truth [1, 2]", "no token"}, [&] {
    true_tokens(source.description(), {{1, 2}});
  });
}

}  // namespace
}  // namespace headwater
