#include <fmt/format.h>

#include <cmath>

#include "headwater/output/picture/figure_curves.h"
#include "headwater/output/terminal/table.h"
#include "headwater/output/terminal/terminal.h"

namespace headwater {
namespace {

std::string text_of(const Spread& spread) {
  if (spread.count == 0) return "none";
  return fmt::format("{:.2f}\u00B1{:.2f}", spread.mean, spread.deviation);
}

std::string table_of(const std::vector<MethodSpread>& methods, Range layers, bool deviations) {
  std::vector<std::vector<std::string>> lines = {{"layer"}};
  for (int l = layers.begin; l < layers.end; ++l) lines[0].push_back(std::to_string(l));
  for (const MethodSpread& method : methods) {
    lines.push_back({method.method});
    // A method over all layers is shown under the last one.
    if (method.layers.size() == 1) lines.back().resize(lines[0].size() - 1);
    for (const Spread& spread : method.layers)
      lines.back().push_back(deviations ? text_of(spread) : fmt::format("{:.3f}", spread.mean));
  }
  std::vector<bool> right(lines[0].size(), true);
  right[0] = false;
  return table(lines, right);
}

std::string truth_text(const TruthTable& truth, Range layers) {
  std::string out = fmt::format("\ntop token is a true one (chance {:.3f})\n", truth.chance.mean) +
                    table_of(truth.methods, layers, false);
  if (!truth.found.empty())
    out += "\nshare of the top k tokens that are true, where k tokens are true\n" +
           table_of(truth.found, layers, false);
  return out;
}

std::string faithfulness_text(const std::vector<FaithfulnessSpread>& methods) {
  std::vector<std::vector<std::string>> lines = {
      {"faithfulness", "comprehensiveness", "sufficiency", "area"}};
  for (const FaithfulnessSpread& one : methods)
    lines.push_back(
        {one.method, text_of(one.comprehensiveness), text_of(one.sufficiency), text_of(one.area)});
  return "\n" + table(lines, {false, true, true, true});
}

}  // namespace

std::string terminal(const Evaluation& result) {
  std::string out = "#";
  for (const std::string& detail : details_of(result)) out += (out == "#" ? " " : ", ") + detail;
  out += '\n';
  for (const std::string& note : result.notes) out += "# " + note + '\n';
  for (const CorrelationTable& table : result.correlations)
    out += fmt::format("\nSpearman correlation with {}\n",
                       table.against == "gradient" ? "input gradients" : "blank-out") +
           table_of(table.methods, result.layers, true);
  if (result.truth) out += truth_text(*result.truth, result.layers);
  if (!result.faithfulness.empty()) out += faithfulness_text(result.faithfulness);
  return out;
}

}  // namespace headwater
