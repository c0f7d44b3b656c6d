// Signed values: red speaks for the target, blue against it, and white is 0.
#include <gtest/gtest.h>

#include <algorithm>

#include "headwater/output/caption.h"
#include "headwater/output/colour.h"
#include "headwater/output/picture/figure.h"
#include "headwater/output/picture/layout.h"
#include "headwater/output/shade.h"
#include "headwater/output/terminal/terminal.h"
#include "headwater/result/left_out.h"
#include "tests/support/expect_error.h"

namespace headwater {
namespace {

Attribution three_signed() {
  Attribution out;
  out.method = "relevance";
  out.source.name = "made";
  out.source.tokens = {"not", "bad", "."};
  out.source.layers = 2;
  out.layers = {0, 2};
  out.rows = {2};
  out.has_signs = true;
  Matrix values(1, 3);
  values(0, 0) = 2;
  values(0, 1) = -4;
  out.values.push_back(std::move(values));
  RelevanceRecord& record = out.relevance.emplace();
  record.target.logit = {"good", 1, 2, -1.5};
  record.output = -1.5;
  record.sum = -2;
  record.rest = 0.5;
  return out;
}

TEST(Signs, HaveRedAndBlueWithWhiteAtZero) {
  for (const Ramp ramp : {Ramp::red_blue, Ramp::red_blue_shade}) {
    EXPECT_EQ(colour_at(ramp, 0), white);
    const Colour most = colour_at(ramp, 1), least = colour_at(ramp, -1);
    EXPECT_GT(most.red, most.blue + 80);
    EXPECT_GT(least.blue, least.red + 80);
    EXPECT_EQ(colour_at(ramp, 7), most);
    EXPECT_EQ(colour_at(ramp, -7), least);
  }
}

TEST(Signs, GetAsMuchOfTheScaleBelowZeroAsAbove) {
  const ScaleEnds scale = patch_scale(std::vector<float>{1, -3, 2}, true);
  EXPECT_EQ(scale.top, 3);
  EXPECT_EQ(scale.bottom, -3);
  EXPECT_EQ(scale.colour(0), white);
  const std::vector<double> marks = ticks(-2, 2, 5);
  EXPECT_EQ(marks.front(), -marks.back());
  EXPECT_NE(std::ranges::find(marks, 0.0), marks.end());
}

TEST(Signs, AreInPicturesWithALegend) {
  const Figure figure = figure_of(three_signed(), {}, "x.png");
  EXPECT_TRUE(figure.has_signs);
  EXPECT_EQ(figure.top, 4);
  EXPECT_EQ(figure.bottom, -4);
  EXPECT_EQ(std::get<Strip>(figure.body).values, (Vector{2, -4, 0}));
  EXPECT_NE(std::ranges::find(figure.details, "red speaks for 'good', blue against it"),
            figure.details.end());
  Attribution both = three_signed();
  both.relevance->target.against = Logit{"bad", 0, 2, 1};
  EXPECT_EQ(sign_text(both), "red speaks for 'good', blue for 'bad'");
}

TEST(Signs, APictureShowsLayersHeadsOrEdges) {
  Attribution result = three_signed();
  result.relevance->heads = Matrix(2, 4);
  result.relevance->heads(1, 3) = -8;
  const Figure heads = figure_of(result, {}, "x.png");
  EXPECT_EQ(heads.top, 8);
  EXPECT_EQ(std::get<Grid>(heads.body).panels[0].values(1, 3), -8);
  result.relevance->layer = 1;
  result.relevance->edges = Matrix(3, 3);
  test::expect_error(Error::Kind::usage, {"x.png", "`heads`"},
                     [&] { figure_of(result, {}, "x.png"); });
  result.relevance->heads = Matrix();
  result.relevance->edges(2, 0) = -5;
  const Figure edges = figure_of(result, {}, "x.png");
  EXPECT_EQ(edges.title, "Relevance for 'good': edges of layer 1");
  EXPECT_EQ(std::get<Grid>(edges.body).panels[0].values(2, 0), -5);
}

TEST(Signs, AreBarsOfTwoKindsInATable) {
  const std::string text = terminal(three_signed(), 0, {}, false, 80);
  EXPECT_NE(text.find("logit -1.5 = tokens -2 + biases 0.5"), std::string::npos) << text;
  EXPECT_NE(text.find("2.000  ############\n"), std::string::npos) << text;
  EXPECT_NE(text.find("-4.000  ------------------------\n"), std::string::npos) << text;
}

TEST(Signs, AreNoEquationWhereItDoesNotHold) {
  Attribution result = three_signed();
  result.relevance->target.logit.id = -1;
  result.relevance->output = 4;
  const std::string text = terminal(result, 0, {}, false, 80);
  EXPECT_NE(text.find("output 4, not the sum: tokens -2, biases 0.5"), std::string::npos) << text;
  EXPECT_EQ(text.find(" = tokens"), std::string::npos) << text;
}

TEST(Signs, CountBySizeInWhatAFilterLeavesOut) {
  EXPECT_NEAR(mass_left_out(std::vector<float>{2, -4, 2}, {true, false, true}), 0.5, 1e-12);
}

}  // namespace
}  // namespace headwater
