// One picture of each kind as it was laid out when a person last looked at it:
// tests/snapshots/*.svg. After a change that is meant, renew them and look at the difference:
//
//   HEADWATER_RENEW=1 ctest --preset release -R Snapshots && git diff tests/snapshots
#include <gtest/gtest.h>

#include <cmath>

#include "headwater/output/picture/layout.h"
#include "made.h"
#include "tests/output/scene_svg.h"
#include "tests/support/test_data.h"

namespace headwater {
namespace {

const std::vector<std::string> keys = {"[CLS]", "the", "key", "##s",  "to",
                                       "the",   "<b>", "are", "here", "[SEP]"};

class Snapshots : public testing::Test {
 protected:
  // Where everything goes depends on the widths of letters, and so on the font.
  void SetUp() override {
    Text probe;
    probe.text = "Hamburgefonstiv 0123";
    const Text measured = typesetter_.measured(probe);
    if (std::abs(measured.width - 103.45) > 0.05 || std::abs(measured.height - 10.48) > 0.05)
      GTEST_SKIP() << "the font is not DejaVu Sans 2.37: 'Hamburgefonstiv 0123' is "
                   << measured.width << " x " << measured.height << " points";
  }

  void expect(const std::string& name, ResultView result, const Filter& filter = {}) {
    test::expect_recorded("snapshots/" + name + ".svg",
                          test::svg_of(layout(figure_of(result, filter, name), typesetter_)));
  }

  Typesetter typesetter_;
};

/// Smooth values without a pattern that a mistake could keep: sin^2, divided by its row's sum.
Attribution wavy(double turn = 0) {
  const int n = static_cast<int>(keys.size());
  Attribution out = made(n);
  out.source.name = "keys.npz";
  out.source.tokens = keys;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    std::vector<double> row;
    for (int j = 0; j < n; ++j)
      row.push_back(std::pow(std::sin(1 + i + 0.61 * (i + 1) * j + turn), 2));
    for (const double value : row) sum += value;
    for (int j = 0; j < n; ++j)
      out.values[0](i, j) = static_cast<float>(row[static_cast<size_t>(j)] / sum);
  }
  return out;
}

void keep_row(Attribution& result, int row) {
  for (Matrix& values : result.values) {
    Matrix one(1, values.columns());
    for (int j = 0; j < values.columns(); ++j) one(0, j) = values(row, j);
    values = std::move(one);
  }
  result.rows = {row};
}

Attribution layers_of_row(int layers) {
  Attribution out = wavy();
  out.values.clear();
  for (int k = 0; k < layers; ++k) {
    out.values.push_back(std::move(wavy(0.4 * k).values[0]));
    out.by_layer.push_back(k);
  }
  keep_row(out, 2);
  return out;
}

/// A white square with a dark corner, seen as 3 x 3 patches after [CLS].
Attribution wavy_patches() {
  Attribution out = wavy();
  out.source.name = "square.png";
  keep_row(out, 0);
  PatchGrid grid{60, 60, {0, 0, 60, 60}, Image(60, 60), 3, 3, 1};
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x)
      for (int c = 0; c < 3; ++c)
        grid.image.row(y)[static_cast<size_t>(3 * x + c)] = x < 40 && y < 20 ? 60 : 255;
  out.source.patches = std::move(grid);
  return out;
}

Evaluation evaluation() {
  Evaluation out;
  out.file = "examples.jsonl";
  out.source.name = "verb-number";
  out.layers = {0, 4};
  out.methods = {"raw", "rollout", "flow"};
  out.examples.resize(2);
  out.examples[0].counted = {false, true, true, false};
  out.examples[1].counted = {false, true, false};
  const auto curve = [](double begin, double step) {
    std::vector<Spread> layers;
    for (int l = 0; l < 4; ++l) layers.push_back({begin + step * l, 0.1, 2});
    return layers;
  };
  out.correlations = {
      {"blank-out",
       {{"raw", curve(0.1, 0.05)}, {"rollout", curve(0.2, 0.2)}, {"flow", curve(-0.2, 0.1)}}}};
  out.truth = TruthTable{{{"raw", curve(0.5, -0.1)}, {"rollout", curve(0.4, 0.15)}}, {0.3, 0, 2}};
  FaithfulnessSpread faith;
  faith.method = "rollout";
  faith.curve = {0.9, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.28, 0.25, 0.22, 0.2};
  out.faithfulness = {faith};
  return out;
}

Generated generated() {
  Generated out;
  out.prompt = wavy().source;
  out.prompt.tokens = {"The", "\u0120keys", "\u0120to", "\u0120the", "\u0120cabinet"};
  out.tokens = {"\u0120are", "\u0120on", "\u0120it"};
  out.ids = {3, 1, 4};
  out.text = " are on it";
  out.layers = {0, 2};
  for (int s = 0; s < 3; ++s) {
    Matrix values(5, 2);
    for (int j = 0; j < 5; ++j)
      for (int l = 0; l < 2; ++l)
        values(j, l) = static_cast<float>((1 + (s + 2 * j + l) % 5) / 15.0);
    out.values.push_back(std::move(values));
  }
  return out;
}

TEST_F(Snapshots, Heatmap) { expect("heatmap", wavy()); }

TEST_F(Snapshots, HeatmapWithoutSpecialTokens) {
  expect("heatmap-filtered", wavy(), parse_filter("special"));
}

TEST_F(Snapshots, OneRow) {
  Attribution result = wavy();
  keep_row(result, 2);
  expect("one-row", result);
}

TEST_F(Snapshots, OneRowByLayer) { expect("one-row-by-layer", layers_of_row(4)); }

TEST_F(Snapshots, Comparison) {
  Comparison result = made_comparison(static_cast<int>(keys.size()), 3);
  for (size_t k = 0; k < 3; ++k) {
    const std::string label = result.panels[k].label;
    result.panels[k] = wavy(0.5 * static_cast<double>(k));
    result.panels[k].label = label;
  }
  expect("comparison", result);
}

TEST_F(Snapshots, Overlay) { expect("overlay", wavy_patches()); }

TEST_F(Snapshots, Evaluation) { expect("evaluation", evaluation()); }

TEST_F(Snapshots, Generated) { expect("generated", generated()); }

TEST_F(Snapshots, GeneratedTokenByLayer) {
  Generated result = generated();
  result.shown = 1;
  result.shown_by_layer = true;
  expect("generated-token-by-layer", result);
}

}  // namespace
}  // namespace headwater
