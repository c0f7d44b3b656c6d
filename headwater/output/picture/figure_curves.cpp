#include "headwater/output/picture/figure_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/output/caption.h"

namespace headwater {
namespace {

struct MethodColour {
  std::string_view method;
  Colour colour;
};

// Distinguishable with colour blindness (Okabe and Ito 2008).
constexpr std::array<MethodColour, 12> colours = {{{"raw", {110, 110, 110}},
                                                   {"rollout", {0, 114, 178}},
                                                   {"flow", {213, 94, 0}},
                                                   {"gradient", {86, 180, 233}},
                                                   {"gradient-rollout", {0, 158, 115}},
                                                   {"chefer", {204, 121, 167}},
                                                   {"gradient-x-input", {240, 228, 66}},
                                                   {"frozen", {200, 30, 45}},
                                                   {"attnlrp", {120, 20, 110}},
                                                   {"integrated", {120, 160, 30}},
                                                   {"input-gradient", {230, 159, 0}},
                                                   {"blank-out", {0, 0, 0}}}};

Colour colour_of(std::string_view method) {
  const auto found = std::ranges::find(colours, method, &MethodColour::method);
  return found == colours.end() ? black : found->colour;
}

std::vector<std::string> layer_names(Range layers) {
  std::vector<std::string> out;
  for (int l = layers.begin; l < layers.end; ++l) out.push_back(std::to_string(l));
  return out;
}

// A method for all layers at once has one value for all places.
Curve curve_of(const MethodSpread& method, size_t places) {
  Curve curve{method.method, {}, colour_of(method.method)};
  for (const Spread& spread : method.layers) curve.values.push_back(spread.mean);
  if (curve.values.size() == 1) curve.values.resize(places, curve.values[0]);
  return curve;
}

// The lowest value, rounded down to a quarter, and at most 0.
double bottom_of(const std::vector<Curve>& curves) {
  double least = 0;
  for (const Curve& curve : curves)
    for (const double value : curve.values)
      if (!std::isnan(value)) least = std::min(least, value);
  return std::floor(least * 4) / 4;
}

CurvePanel truth_panel(const TruthTable& truth, Range layers) {
  CurvePanel panel{
      "Top token is a true one", "Layer", "Share of examples", layer_names(layers), 0, 1, {},
      truth.chance.mean};
  for (const MethodSpread& method : truth.methods)
    panel.curves.push_back(curve_of(method, panel.places.size()));
  panel.x_title += fmt::format(" (across: chance, {:.2f})", truth.chance.mean);
  return panel;
}

CurvePanel perturbation_panel(const std::vector<FaithfulnessSpread>& methods) {
  CurvePanel panel{"Most important blanked first",
                   "% of tokens blanked out",
                   "Probability of the target",
                   {},
                   0,
                   1,
                   {},
                   -1};
  for (size_t k = 0; k < methods.front().curve.size(); ++k)
    panel.places.push_back(std::to_string(100 * k / (methods.front().curve.size() - 1)));
  for (const FaithfulnessSpread& method : methods)
    panel.curves.push_back({method.method, method.curve, colour_of(method.method)});
  return panel;
}

}  // namespace

Curves curves_of(const Evaluation& result) {
  Curves out;
  for (const CorrelationTable& table : result.correlations) {
    CurvePanel panel{table.against == "gradient" ? "Input gradients" : "Blank-out",
                     "Layer",
                     "Spearman correlation",
                     layer_names(result.layers),
                     0,
                     1,
                     {},
                     0};
    for (const MethodSpread& method : table.methods)
      panel.curves.push_back(curve_of(method, panel.places.size()));
    panel.bottom = bottom_of(panel.curves);
    out.panels.push_back(std::move(panel));
  }
  if (result.truth) out.panels.push_back(truth_panel(*result.truth, result.layers));
  if (!result.faithfulness.empty()) out.panels.push_back(perturbation_panel(result.faithfulness));
  return out;
}

std::vector<std::string> details_of(const Evaluation& result) {
  size_t tokens = 0, counted = 0;
  for (const ExampleRecord& example : result.examples) {
    tokens += example.counted.size();
    counted += static_cast<size_t>(std::ranges::count(example.counted, true));
  }
  return {
      source_text(result.source.name),
      source_text(result.file),
      fmt::format("{} example{}", result.examples.size(), result.examples.size() == 1 ? "" : "s"),
      fmt::format("{} of {} tokens count", counted, tokens),
      fmt::format("layers {}:{}", result.layers.begin, result.layers.end),
      fmt::format("residual {}", result.options.residual)};
}

}  // namespace headwater
