#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "headwater/output/caption.h"
#include "headwater/output/shade.h"
#include "headwater/output/terminal/isolate.h"
#include "headwater/output/terminal/shown_row.h"
#include "headwater/output/terminal/table.h"
#include "headwater/output/terminal/terminal.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"

namespace headwater {
namespace {

constexpr int named = 3;  // prompt tokens for each generated token

// "key 0.31, red 0.20, box 0.11": the largest values of a row.
std::string leans_on(std::span<const float> row, const std::vector<bool>& shown,
                     const std::vector<std::string>& labels) {
  std::vector<std::string> words;
  for (const int j : top(row, named, shown))
    words.push_back(fmt::format("{} {:.3f}", isolated(labels[static_cast<size_t>(j)]),
                                row[static_cast<size_t>(j)]));
  return fmt::format("{}", fmt::join(words, ", "));
}

// As any row, with what it explains at the end of the first line.
std::string one_target(const Generated& result, const Filter& filter, bool colour, int width) {
  std::string out = terminal(relevance_of(result, result.shown), 0, filter, colour, width);
  return out.insert(out.find('\n'),
                    fmt::format(", {}", fmt::join(relevance_details(result), ", ")));
}

}  // namespace

std::string terminal(const Generated& result, const Filter& filter, bool colour, int width) {
  const std::string text = harmless(result.text);
  const bool follows = result.relevance.rows() > 0;
  if (result.values.empty() && !follows) return text + '\n';
  if (follows && (result.shown || result.span.size() > 0))
    return one_target(result, filter, colour, width);
  if (result.shown)
    return terminal(of_token(result, *result.shown, !result.shown_by_layer), 0, filter, colour,
                    width);
  const Attribution last = follows ? relevance_of(result) : at_layer(result);
  const std::ptrdiff_t prompt = static_cast<std::ptrdiff_t>(result.prompt.tokens.size());
  const std::vector<std::string> labels = token_labels(last.source.tokens, 24);
  const std::vector<std::string> outputs = output_labels(last);
  const std::vector<bool> shown = kept(filter, last.source.tokens);
  std::vector<std::vector<std::string>> lines = {{"", "generated",
                                                  result.target ? "source"
                                                  : follows     ? "from prompt"
                                                                : "prompt",
                                                  follows ? "speak for it" : "leans on"}};
  std::vector<bool> right = {true, false, true, false};
  std::vector<std::string> target_labels;
  if (result.target) {
    target_labels = token_labels(result.target->tokens, 24);
    lines[0].insert(lines[0].end(), {"target", "and on"});
    right.insert(right.end(), {true, false});
  }
  if (!result.choices.empty()) {
    lines[0].insert(lines[0].begin() + 2, {"sure", "else"});
    right.insert(right.begin() + 2, {true, false});
  }
  for (int s = 0; s < last.values[0].rows(); ++s) {
    const ShownRow shown_row(last, last.values[0], s, filter);
    const std::span<const float> row = last.values[0].row(s);
    const double sum = std::accumulate(row.begin(), row.begin() + prompt, 0.0);
    lines.push_back({std::to_string(s), outputs[static_cast<size_t>(s)], fmt::format("{:.3f}", sum),
                     leans_on(shown_row.values, shown, labels)});
    if (result.target) {
      const std::span<const float> own = result.target->values.row(s);
      lines.back().push_back(fmt::format("{:.3f}", std::accumulate(own.begin(), own.end(), 0.0)));
      lines.back().push_back(leans_on(own, kept(filter, result.target->tokens), target_labels));
    }
    if (result.choices.empty()) continue;
    const WordChoice& choice = result.choices[static_cast<size_t>(s)];
    const std::string second = token_labels_after(last.source.tokens, {choice.second}, 24)[0];
    lines.back().insert(lines.back().begin() + 2,
                        {fmt::format("{:.1f} %", 100 * choice.probability),
                         choice.second.empty() ? ""
                                               : fmt::format("{} {:.1f} %", second,
                                                             100 * choice.second_probability)});
  }
  std::vector<std::string> details = details_of(last, filter);
  if (follows)
    for (std::string& detail : relevance_details(result)) details.push_back(std::move(detail));
  std::string out = fmt::format("# {}\n{}\n\n", fmt::join(details, ", "), text);
  for (const std::string& note : result.notes) out += "# " + harmless(note) + '\n';
  return out + table(lines, right);
}

}  // namespace headwater
