#include "headwater/output/picture/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/core/error.h"
#include "made.h"

namespace headwater {
namespace {

using Corners = std::array<Point, 4>;

// Two convex shapes are apart if the direction of some side separates them.
bool overlap(const Corners& a, const Corners& b) {
  for (const Corners* shape : {&a, &b})
    for (size_t k = 0; k < 2; ++k) {
      const Point side = {(*shape)[k + 1].x - (*shape)[k].x, (*shape)[k + 1].y - (*shape)[k].y};
      const double length = std::hypot(side.x, side.y);
      if (length == 0) return false;
      double least[2], most[2];
      const Corners* both[2] = {&a, &b};
      for (int s = 0; s < 2; ++s) {
        least[s] = std::numeric_limits<double>::max();
        most[s] = std::numeric_limits<double>::lowest();
        for (const Point& p : *both[s]) {
          const double along = (p.x * side.x + p.y * side.y) / length;
          least[s] = std::min(least[s], along);
          most[s] = std::max(most[s], along);
        }
      }
      // A hundredth of a point is rounding, not ink.
      if (most[0] <= least[1] + 0.01 || most[1] <= least[0] + 0.01) return false;
    }
  return true;
}

Corners corners(double x, double y, double width, double height) {
  return {Point{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
}

void expect_sound(const Scene& scene, const std::string& what) {
  for (size_t k = 0; k < scene.texts.size(); ++k) {
    const Text& text = scene.texts[k];
    const Corners here = text.corners();
    for (const Point& p : here) {
      ASSERT_GE(p.x, 0) << what << ": " << text.text;
      ASSERT_GE(p.y, 0) << what << ": " << text.text;
      ASSERT_LE(p.x, scene.width) << what << ": " << text.text;
      ASSERT_LE(p.y, scene.height) << what << ": " << text.text;
    }
    for (size_t other = 0; other < k; ++other)
      ASSERT_FALSE(overlap(here, scene.texts[other].corners()))
          << what << ": '" << text.text << "' lies on '" << scene.texts[other].text << "'";
    for (const Cells& cells : scene.cells)
      ASSERT_FALSE(overlap(here, corners(cells.x, cells.y, cells.width(), cells.height())))
          << what << ": '" << text.text << "' lies on cells";
  }
  for (size_t k = 0; k < scene.cells.size(); ++k) {
    const Cells& cells = scene.cells[k];
    EXPECT_EQ(cells.x, std::round(cells.x)) << what;
    EXPECT_EQ(cells.y, std::round(cells.y)) << what;
    EXPECT_LE(cells.x + cells.width(), scene.width) << what;
    EXPECT_LE(cells.y + cells.height(), scene.height) << what;
    EXPECT_LE(cells.width(), 800) << what;
    for (size_t other = 0; other < k; ++other) {
      const Cells& before = scene.cells[other];
      EXPECT_FALSE(overlap(corners(cells.x, cells.y, cells.width(), cells.height()),
                           corners(before.x, before.y, before.width(), before.height())))
          << what;
    }
  }
}

Scene scene_of(Result result, const Filter& filter = {}) {
  Typesetter typesetter;
  return layout(figure_of(result, filter, "x.png"), typesetter);
}

std::vector<std::string> long_tokens(int n) {
  std::vector<std::string> out;
  for (int j = 0; j < n; ++j)
    out.push_back("Donaudampfschifffahrtsgesellschaft" + std::to_string(j));
  return out;
}

std::vector<std::string> repeated(const std::vector<std::string>& tokens, int n) {
  std::vector<std::string> out;
  for (int j = 0; j < n; ++j) out.push_back(tokens[static_cast<size_t>(j) % tokens.size()]);
  return out;
}

TEST(Layout, NeverOverlapsInAHeatmap) {
  for (const int n : {1, 2, 9, 33, 64, 65, 130, 512, 2048}) {
    expect_sound(scene_of(made(n)), "short tokens, n = " + std::to_string(n));
    Attribution tall = made(n);
    tall.source.tokens = long_tokens(n);
    expect_sound(scene_of(std::move(tall)), "long tokens, n = " + std::to_string(n));
    Attribution hostile = made(n);
    hostile.source.tokens = repeated(hostile_tokens(), n);
    expect_sound(scene_of(std::move(hostile)), "hostile tokens, n = " + std::to_string(n));
  }
}

TEST(Layout, NeverOverlapsInOneRow) {
  for (const int n : {1, 9, 64, 65, 512, 2048, 6000})
    for (const auto& tokens :
         {made(n).source.tokens, long_tokens(n), repeated(hostile_tokens(), n)})
      expect_sound(scene_of(made_row(tokens, std::vector<float>(static_cast<size_t>(n), 0.1f))),
                   tokens[0] + ", n = " + std::to_string(n));
}

TEST(Layout, NeverOverlapsByLayer) {
  for (const int n : {1, 9, 300})
    for (const int layers : {1, 2, 7, 12}) {
      const std::string what = std::to_string(layers) + " layers, n = " + std::to_string(n);
      expect_sound(scene_of(made_by_layer(n, layers, true)), "one row, " + what);
      expect_sound(scene_of(made_by_layer(n, layers, false)), "all rows, " + what);
    }
}

TEST(Layout, NeverOverlapsInAComparison) {
  for (const int panels : {1, 2, 3, 4, 5, 6, 7, 12})
    for (const int n : {1, 9, 64, 512}) {
      Comparison result = made_comparison(n, panels);
      for (Attribution& panel : result.panels) panel.source.tokens = long_tokens(n);
      result.panels.back().label = std::string(300, 'W');
      expect_sound(scene_of(std::move(result)),
                   std::to_string(panels) + " panels, n = " + std::to_string(n));
    }
}

TEST(Layout, NeverOverlapsWithScalesOfTheirOwn) {
  for (const int panels : {2, 4, 5})
    for (const int n : {2, 9, 64}) {
      Comparison result = made_comparison(n, panels);
      result.by = "method";
      result.panels[1].values[0](0, 1) = 3;
      const Scene scene = scene_of(std::move(result));
      expect_sound(scene, std::to_string(panels) + " scales, n = " + std::to_string(n));
      EXPECT_EQ(scene.cells.size(), 2 * static_cast<size_t>(panels)) << "a bar for each panel";
    }
}

TEST(Layout, PutsTheHeadsOfALayerInALine) {
  Comparison result = made_comparison(5, 24);
  result.by = "head";
  for (int k = 0; k < 24; ++k) {
    Attribution& panel = result.panels[static_cast<size_t>(k)];
    panel.layers = {k / 6, k / 6 + 1};
    panel.label = "layer " + std::to_string(k / 6) + " head " + std::to_string(k % 6);
  }
  const Scene scene = scene_of(std::move(result));
  expect_sound(scene, "heads");
  for (size_t k = 0; k < 24; ++k) {
    EXPECT_EQ(scene.cells[k].y, scene.cells[k / 6 * 6].y);
    EXPECT_EQ(scene.cells[k].x, scene.cells[k % 6].x);
  }
}

TEST(Layout, DrawsCurvesOfEqualValuesBesideEachOther) {
  Evaluation result;
  result.layers = {0, 2};
  const std::vector<Spread> same = {{0.5, 0, 1}, {0.75, 0, 1}}, other = {{0, 0, 1}, {0.25, 0, 1}};
  result.correlations = {{"gradient", {{"raw", same}, {"rollout", other}, {"flow", same}}}};
  const Scene scene = scene_of(std::move(result));
  // Two marks of each curve, then one of each in the legend.
  EXPECT_EQ(scene.boxes[4].y, scene.boxes[0].y) << "at its true height";
  EXPECT_EQ(scene.boxes[5].y, scene.boxes[1].y);
  EXPECT_GE(scene.boxes[4].x - scene.boxes[0].x, scene.boxes[0].width);
  EXPECT_GT(scene.boxes[2].x, scene.boxes[0].x + scene.boxes[0].width / 2);
}

TEST(Layout, NeverOverlapsInAComparisonOfOneRow) {
  Comparison result = made_comparison(9, 3);
  for (Attribution& panel : result.panels) {
    panel.rows = {0};
    panel.values[0] = Matrix(1, 9);
  }
  const Scene scene = scene_of(std::move(result));
  expect_sound(scene, "three rows");
  EXPECT_EQ(scene.cells[0].values.rows(), 3);
}

TEST(Layout, StaysInItsPageWithALongName) {
  Attribution result = made(3);
  result.source.name = std::string(4000, 'x') + "\x1b[2J.npz";
  const Scene scene = scene_of(std::move(result));
  expect_sound(scene, "long name");
  EXPECT_LT(scene.width, 1000);
}

TEST(Layout, LabelsEveryTokenWhereThereIsRoom) {
  const Scene scene = scene_of(made(64));
  for (const std::string label : {"t0", "t1", "t63"})
    EXPECT_EQ(std::count_if(scene.texts.begin(), scene.texts.end(),
                            [&](const Text& t) { return t.text == label; }),
              2)
        << label;
}

TEST(Layout, NumbersLabelsThatAreThinnedOut) {
  Attribution result = made(512);
  result.source.tokens.assign(512, "word");
  const Scene scene = scene_of(std::move(result));
  const auto labelled = [&](const std::string& label) {
    return std::any_of(scene.texts.begin(), scene.texts.end(),
                       [&](const Text& t) { return t.text == label; });
  };
  EXPECT_TRUE(labelled("100 word"));
  EXPECT_FALSE(labelled("101 word"));
}

TEST(Figure, SharesOneScaleAmongPanels) {
  Comparison result = made_comparison(9, 3);
  result.panels[1].values[0](4, 4) = 0.75f;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  EXPECT_FLOAT_EQ(static_cast<float>(figure.top), 0.75f);
  EXPECT_FALSE(figure.cut);
}

TEST(Figure, GivesPanelsOfOtherRangesScalesOfTheirOwn) {
  Comparison result = made_comparison(9, 3);
  result.by = "method";
  result.panels[1].values[0](4, 4) = 0.75f;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  const Grid& grid = std::get<Grid>(figure.body);
  EXPECT_FLOAT_EQ(static_cast<float>(grid.panels[0].top), 0.2f);
  EXPECT_FLOAT_EQ(static_cast<float>(grid.panels[1].top), 0.75f);
  EXPECT_EQ(std::ranges::count(figure.details, "each panel has its own scale"), 1);
  Comparison alike = made_comparison(9, 3);
  alike.by = "method";
  const Figure shared = figure_of(results_of(std::move(alike))[0], {}, "x.png");
  EXPECT_EQ(std::get<Grid>(shared.body).panels[0].top, 0);
}

TEST(Figure, EndsTheScaleOfASmallPictureAtTheTextsOwnTokens) {
  Attribution result = made(4);
  result.source.tokens = {"[CLS]", "a", "b", "[SEP]"};
  for (int i = 0; i < 4; ++i) result.values[0](i, 0) = 5;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  EXPECT_TRUE(figure.cut);
  EXPECT_FLOAT_EQ(static_cast<float>(figure.top), 0.4f);
}

TEST(Figure, ShowsHowNearlyEqualValuesDiffer) {
  Attribution alike = made(3), equal = made(3);
  for (int k = 0; k < 9; ++k) {
    alike.values[0].data()[k] = k < 5 ? 0.25f : 0.375f;
    equal.values[0].data()[k] = k < 5 ? 0.25f : 0.2505f;
  }
  const Figure some = figure_of(results_of(std::move(alike))[0], {}, "x.png");
  EXPECT_EQ(some.bottom, 0.25);
  EXPECT_EQ(some.top, 0.375);
  const Figure none = figure_of(results_of(std::move(equal))[0], {}, "x.png");
  EXPECT_EQ(none.bottom, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(none.top), 0.501f);
}

TEST(Figure, TakesTheLargestValueOfACell) {
  Attribution result = made(2048);
  result.values[0](1000, 2001) = 0.5f;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  const Grid& grid = std::get<Grid>(figure.body);
  EXPECT_EQ(grid.x.bin, 2);
  EXPECT_EQ(grid.panels[0].values.rows(), 1024);
  EXPECT_EQ(grid.panels[0].values(500, 1000), 0.5f);
}

TEST(Figure, SaysWhereAScaleWasCutInALargePicture) {
  Attribution result = made(200);
  result.values[0](0, 0) = 1;
  const Figure figure = figure_of(results_of(std::move(result))[0], {}, "x.png");
  EXPECT_TRUE(figure.cut);
  EXPECT_LT(figure.top, 0.1);
  EXPECT_NE(figure.caption.find("cut at"), std::string::npos);
}

TEST(Figure, ShadesTextUpToThreeTimesTheSecondLargestValueWhereTheFirstDwarfsIt) {
  const auto top = [](const std::vector<float>& values) {
    const std::vector<std::string> tokens(values.size(), "t");
    return figure_of(results_of(made_row(tokens, values))[0], {}, "x.png").top;
  };
  EXPECT_DOUBLE_EQ(top({0.75f, 0.125f, 0.125f}), 0.375);
  EXPECT_DOUBLE_EQ(top({0.125f, 0.125f, 0.75f}), 0.375);
  EXPECT_DOUBLE_EQ(top({0.5f, 0.25f, 0.25f}), 0.5);
  EXPECT_DOUBLE_EQ(top({1, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(top({0, 0, 0}), 1);
}

TEST(Figure, ShowsTheKeptTokensOnly) {
  Attribution result = made(3);
  result.source.tokens = {"[CLS]", "cat", "[SEP]"};
  Filter filter;
  filter.special = true;
  const std::vector<Result> results = results_of(std::move(result));
  const Figure figure = figure_of(results[0], filter, "x.png");
  const Grid& grid = std::get<Grid>(figure.body);
  EXPECT_EQ(grid.x.labels, std::vector<std::string>{"cat"});
  EXPECT_EQ(grid.y.labels.size(), 3u);
  EXPECT_NE(std::find(figure.details.begin(), figure.details.end(),
                      "without special tokens (67 % of the mass)"),
            figure.details.end());
  filter.words = {"cat"};
  EXPECT_THROW(figure_of(results[0], filter, "x.png"), Error);
}

TEST(Figure, HasZerosAndBadNumbersWithoutTrouble) {
  const float nan = std::nanf("");
  expect_sound(scene_of(made_row({"a", "b"}, {0, 0})), "zeros");
  expect_sound(scene_of(made_row({"a", "b"}, {nan, nan})), "not numbers");
  Attribution result = made(3);
  result.values[0](1, 1) = nan;
  result.values[0](2, 2) = std::numeric_limits<float>::infinity();
  EXPECT_FLOAT_EQ(static_cast<float>(figure_of(results_of(std::move(result))[0], {}, "x").top),
                  0.5f);
}

TEST(Figure, RefusesWhatHasNoPicture) {
  EXPECT_THROW(figure_of(Metrics(), {}, "x.png"), Error);
  EXPECT_THROW(figure_of(Info(), {}, "x.png"), Error);
  EXPECT_THROW(figure_of(Comparison(), {}, "x.png"), Error);
  Comparison uneven = made_comparison(3, 1);
  uneven.panels.push_back(made(4));
  EXPECT_THROW(figure_of(results_of(std::move(uneven))[0], {}, "x.png"), Error);
}

TEST(Ticks, AreRoundAndWithinTheScale) {
  for (const double top : {1e-30, 3.7e-9, 0.0129, 0.1, 0.3, 0.99, 1.0, 7.0})
    for (const int count : {2, 3, 5, 8}) {
      const std::vector<double> all = ticks(top, count);
      ASSERT_GE(all.size(), 2u) << top;
      ASSERT_LE(all.size(), static_cast<size_t>(count)) << top << ' ' << count;
      EXPECT_EQ(all.front(), 0);
      EXPECT_LE(all.back(), top * (1 + 1e-6));
    }
}

TEST(Viridis, HasTheColoursOfMatplotlib) {
  const auto near = [](double share, int red, int green, int blue) {
    const Colour c = colour_at(Ramp::viridis, share);
    EXPECT_NEAR(c.red, red, 2) << share;
    EXPECT_NEAR(c.green, green, 2) << share;
    EXPECT_NEAR(c.blue, blue, 2) << share;
  };
  near(0, 68, 1, 84);
  near(22 / 255.0, 72, 32, 113);
  near(0.25, 59, 82, 139);
  near(0.5, 33, 145, 140);
  near(157 / 255.0, 37, 172, 130);
  near(0.75, 94, 201, 98);
  near(243 / 255.0, 223, 227, 24);
  near(1, 253, 231, 37);
  EXPECT_EQ(colour_at(Ramp::viridis, -1), colour_at(Ramp::viridis, 0));
  EXPECT_EQ(colour_at(Ramp::viridis, 7), colour_at(Ramp::viridis, 1));
  EXPECT_EQ(colour_at(Ramp::shade, std::nan("")), white);
}

}  // namespace
}  // namespace headwater
