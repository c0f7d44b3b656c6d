// The rules of gradient on maps that are known, by hand.
#include "headwater/method/gradient.h"

#include <gtest/gtest.h>

#include "headwater/core/error.h"

namespace headwater {
namespace {

using Map = std::vector<float>;

// Two tokens; hands out maps of its layers from the top down, as a model does.
class TwoTokens : public Source, public Differentiable {
 public:
  explicit TwoTokens(std::vector<Map> maps) : maps_(std::move(maps)) {
    example_.name = "made";
    example_.tokens = {"a", "b"};
    example_.layers = static_cast<int>(maps_.size());
  }
  const Description& description() const override { return example_; }
  void layers(Fuse, Range, Direction, const Visit&) override { FAIL() << "attention alone"; }
  Differentiable* differentiable() override { return this; }
  GradientAnswer gradients(const GradientRequest& request, const Visit& visit) override {
    asked = request;
    for (int l = request.range.end - 1; l >= request.range.begin; --l) {
      Map map = maps_[static_cast<size_t>(l)];
      visit(l, MatrixSpan(map.data(), 2, 2));
    }
    return {{{"yes", 1, 0, 2.5}, {}}, {{1, 2}, {3, 4}}};
  }
  RelevanceAnswer relevance(const RelevanceRequest&) override { return {}; }
  Outcome outcome(const Logit&, std::span<const int>) override { return {}; }
  GradientRequest asked;

 private:
  Description example_;
  std::vector<Map> maps_;
};

class GradientRules : public testing::Test {
 protected:
  Map run(GradientRule rule, const Options& options = {}) {
    GradientOptions what;
    what.rule = rule;
    const Attribution result = gradient(source, options, what);
    const Matrix& values = result.values.at(0);
    return Map(values.data(), values.data() + values.size());
  }
  TwoTokens source{{{0, 1, 2, 0}, {3, 0, 0, 1}}};  // the lower layer first
};

TEST_F(GradientRules, GradientIsTheMeanOfLayers) {
  EXPECT_EQ(run(GradientRule::gradient), (Map{1.5f, 0.5f, 1, 0.5f}));
}

TEST_F(GradientRules, GradientOfOneLayerIsItself) {
  Options options;
  options.layers = {0, 1};
  EXPECT_EQ(run(GradientRule::gradient, options), (Map{0, 1, 2, 0}));
}

// (I + G_1)(I + G_0) = [4 0; 0 2] [1 1; 2 1].
TEST_F(GradientRules, CheferMultipliesFromBelow) {
  EXPECT_EQ(run(GradientRule::chefer), (Map{4, 4, 4, 2}));
}

// Rows of (G + I) / 2 divided: [1 0; 0 1] and [1/2 1/2; 2/3 1/3].
TEST_F(GradientRules, RolloutDividesRows) {
  const Map found = run(GradientRule::gradient_rollout);
  const Map expected = {0.5f, 0.5f, 2.0f / 3, 1.0f / 3};
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(found[k], expected[k], 1e-6);
}

TEST_F(GradientRules, SomeRowsAreThoseOfTheWhole) {
  for (GradientRule rule :
       {GradientRule::gradient, GradientRule::gradient_rollout, GradientRule::chefer}) {
    const Map whole = run(rule);
    Options options;
    options.row = {Row::Kind::index, 1};
    EXPECT_EQ(run(rule, options), (Map{whole[2], whole[3]}));
    EXPECT_EQ(source.asked.row, 1);
    options.row = {Row::Kind::mean, 0};
    EXPECT_EQ(run(rule, options), (Map{(whole[0] + whole[2]) / 2, (whole[1] + whole[3]) / 2}));
    EXPECT_EQ(source.asked.row, std::nullopt);
  }
}

TEST_F(GradientRules, RecordWhatWasDifferentiated) {
  const Attribution result = gradient(source);
  ASSERT_TRUE(result.gradient);
  EXPECT_EQ(result.gradient->target.logit.name, "yes");
  EXPECT_EQ(result.gradient->input.norm, (std::vector<float>{1, 2}));
  EXPECT_EQ(result.options.residual, 0);
}

TEST_F(GradientRules, RefuseOptionsThatTheyDoNotHave) {
  Options options;
  options.discard = 0.1;
  EXPECT_THROW(run(GradientRule::chefer, options), Error);
  EXPECT_NO_THROW(run(GradientRule::gradient_rollout, options));
  EXPECT_THROW(run(GradientRule::gradient_rollout, options_of(Preset::metrics)), Error);
  EXPECT_THROW(parse_gradient_rule("cheffer"), Error);
}

}  // namespace
}  // namespace headwater
