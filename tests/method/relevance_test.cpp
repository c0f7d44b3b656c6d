// What relevance() makes of a model's answer: rows, notes and records. The numbers themselves are
// compared with autograd in tests/python/test_relevance.py.
#include "headwater/method/relevance.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace headwater {
namespace {

using test::expect_error;

class AnsweredTokens : public Source, public Differentiable {
 public:
  AnsweredTokens() {
    example_.name = "made";
    example_.tokens = {"a", "b"};
    example_.layers = 2;
    answer.target = {{"yes", 1, 1, 3.0}, {}};
    answer.output = 3;
    answer.input = {-1, 3.5f};
    answer.sum = 2.5;
    answer.rest = 0.5;
  }
  const Description& description() const override { return example_; }
  void layers(Fuse, Range, Direction, const Visit&) override { FAIL() << "no attention is needed"; }
  Differentiable* differentiable() override { return this; }
  GradientAnswer gradients(const GradientRequest&, const Visit&) override { return {}; }
  RelevanceAnswer relevance(const RelevanceRequest& request) override {
    asked = request;
    RelevanceAnswer out;
    out.target = answer.target;
    out.output = answer.output;
    out.input = answer.input;
    out.sum = answer.sum;
    out.rest = answer.rest;
    out.baseline = request.baseline;
    if (request.by_layer) {
      out.by_layer = Matrix(2, 2);
      for (size_t k = 0; k < 4; ++k) out.by_layer.data()[k] = static_cast<float>(k);
    }
    return out;
  }
  Outcome outcome(const Logit&, std::span<const int>) override { return {}; }

  RelevanceRequest asked;
  RelevanceAnswer answer;

 private:
  Description example_;
};

TEST(Relevance, HasOneSignedRowThatOfTheTarget) {
  AnsweredTokens source;
  const Attribution result = relevance(source);
  EXPECT_EQ(result.method, "relevance");
  EXPECT_EQ(result.rows, std::vector<int>{1});
  ASSERT_EQ(result.values.size(), 1u);
  EXPECT_EQ(result.values[0](0, 0), -1);
  EXPECT_EQ(result.values[0](0, 1), 3.5f);
  EXPECT_EQ(result.relevance->output, 3);
  EXPECT_EQ(result.relevance->sum, 2.5);
  EXPECT_EQ(result.relevance->rest, 0.5);
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(source.asked.rule, RelevanceRule::frozen);
  EXPECT_FALSE(source.asked.row);
}

TEST(Relevance, NotesASumThatIsOffWhereTheRuleKeepsIt) {
  AnsweredTokens source;
  source.answer.rest = 0.4;
  EXPECT_EQ(relevance(source).notes.size(), 1u);
  EXPECT_NE(relevance(source).notes[0].find("not to the output 3"), std::string::npos);
  EXPECT_TRUE(relevance(source, {.rule = RelevanceRule::attnlrp}).notes.empty());
  const Attribution integrated = relevance(source, {.rule = RelevanceRule::integrated});
  ASSERT_EQ(integrated.notes.size(), 1u);
  EXPECT_NE(integrated.notes[0].find("the difference, -0.1, is the error of the steps"),
            std::string::npos)
      << integrated.notes[0];
  EXPECT_EQ(integrated.relevance->steps, 20);
  EXPECT_EQ(integrated.relevance->baseline, "mask");
}

TEST(Relevance, ByLayerStartsWithTheInput) {
  AnsweredTokens source;
  const Attribution result = relevance(source, {.by_layer = true});
  EXPECT_EQ(result.by_layer, (std::vector<int>{-1, 0, 1}));
  ASSERT_EQ(result.values.size(), 3u);
  EXPECT_EQ(result.values[0](0, 1), 3.5f);
  EXPECT_EQ(result.values[2](0, 0), 2);
}

TEST(Relevance, TakesRowsAndLayersFromTheEnd) {
  AnsweredTokens source;
  relevance(source, {.row = Row::at(-1), .edges = -1});
  EXPECT_EQ(source.asked.row, 1);
  EXPECT_EQ(source.asked.edges, 1);
  expect_error(Error::Kind::usage, {"`row` 0", "is an output of token 1"},
               [&] { relevance(source, {.row = Row::at(-2)}); });
}

TEST(Relevance, RefusesWhatARuleDoesNotHave) {
  AnsweredTokens source;
  const auto usage = [&](const RelevanceOptions& what, std::vector<std::string> parts) {
    expect_error(Error::Kind::usage, parts, [&] { relevance(source, what); });
  };
  usage({.steps = 3}, {"`steps`", "expected integrated"});
  usage({.baseline = "zero"}, {"`baseline`", "expected integrated"});
  usage({.rule = RelevanceRule::integrated, .heads = true}, {"`heads`"});
  usage({.rule = RelevanceRule::integrated, .by_layer = true}, {"`by_layer`"});
  usage({.rule = RelevanceRule::integrated, .edges = 0}, {"`edges`"});
  usage({.rule = RelevanceRule::integrated, .steps = 0}, {"`steps` 0"});
  usage({.row = Row::mean}, {"`row` mean"});
  expect_error(Error::Kind::work, {"made", "layer 2"}, [&] { relevance(source, {.edges = 2}); });
  expect_error(Error::Kind::usage, {"unknown rule 'frosen'", "did you mean 'frozen'"},
               [] { parse_relevance_rule("frosen"); });
}

}  // namespace
}  // namespace headwater
