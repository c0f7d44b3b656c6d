#include "headwater/method/generate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "headwater/core/fail.h"
#include "headwater/core/stopwatch.h"
#include "headwater/method/sample.h"
#include "headwater/method/tracker.h"

namespace headwater {
namespace {

void check_ranges(const GenerateOptions& how) {
  if (how.count < 1 || how.count > 1'000'000)
    fail_usage("--count {}: expected 1 to 1000000 tokens; choose another", how.count);
  if (!(how.temperature >= 0 && how.temperature <= 100))
    fail_usage("--temperature {}: expected 0 to 100; 0 always takes the best token",
               how.temperature);
  if (how.top_k < 0) fail_usage("--top-k {}: expected 0 or more; 0 takes all", how.top_k);
  if (!(how.top_p > 0 && how.top_p <= 1))
    fail_usage("--top-p {}: expected more than 0 and at most 1; choose another", how.top_p);
  if (how.temperature == 0 && (how.top_k > 0 || how.top_p != 1 || how.seed != 0))
    fail_usage(
        "--{}: was given without --temperature, so that the best token is always taken, expected "
        "both; add --temperature 1",
        how.top_k > 0   ? "top-k"
        : how.seed != 0 ? "seed"
                        : "top-p");
}

// M, out of the rows of the positions that belong to the generated tokens.
void take_values(const Tracker& tracker, int prompt, Generated& result) {
  const int first = prompt - (result.how.own_position ? 0 : 1);
  for (int s = 0; s < static_cast<int>(result.ids.size()); ++s) {
    Matrix values(prompt, result.layers.size());
    for (int l = 0; l < result.layers.size(); ++l) {
      const std::span<const float> row = tracker.rolled(result.layers.begin + l).row(first + s);
      for (int j = 0; j < prompt; ++j) values(j, l) = row[static_cast<size_t>(j)];
    }
    result.values.push_back(std::move(values));
  }
}

Attribution begin(const Generated& generated) {
  Attribution result;
  result.method = "generate";
  result.options = generated.options;
  result.layers = generated.layers;
  result.source = generated.prompt;
  result.outputs = generated.tokens;
  result.notes = generated.notes;
  result.timing = generated.timing;
  return result;
}

Matrix column_of(const Matrix& values, int layer) {
  Matrix row(1, values.rows());
  for (int j = 0; j < values.rows(); ++j) row(0, j) = values(j, layer);
  return row;
}

}  // namespace

Generated generate(Generation& generation, const Options& options, const GenerateOptions& how) {
  const Stopwatch whole;
  check_ranges(how);
  const Example& prompt = generation.prompt();
  const std::vector<int>& known = generation.continuation();
  const int m = static_cast<int>(prompt.ids.size());
  const int most = known.empty() ? how.count : static_cast<int>(known.size());
  Generated result;
  result.how = how;
  result.options = options;
  result.prompt = prompt;
  std::optional<Tracker> tracker;
  Visit push;
  if (how.attribute) {
    tracker.emplace(prompt.layers, m, m + most, options, prompt.name);
    result.layers = tracker->range();
    push = [&](int layer, MatrixSpan rows) { tracker->push(layer, rows); };
  }
  generation.read(prompt.ids, options.fuse, push);
  Random random(how.seed);
  if (!known.empty()) {
    // The last token predicts nothing more, unless it is looked at on its own.
    result.ids = known;
    const size_t read = known.size() - (how.own_position ? 0 : 1);
    if (read > 0) generation.read(std::span(known).first(read), options.fuse, push);
  } else {
    while (static_cast<int>(result.ids.size()) < most) {
      const int id = how.temperature > 0
                         ? draw(generation.logits(), how.temperature, how.top_k, how.top_p, random)
                         : best(generation.logits());
      result.ids.push_back(id);
      result.ended = generation.ends(id) && !how.ignore_end;
      const bool last = result.ended || static_cast<int>(result.ids.size()) == most;
      if (!last || how.own_position) generation.read({&id, 1}, options.fuse, push);
      if (last) break;
    }
  }
  result.text = generation.text(result.ids);
  for (const int id : result.ids) result.tokens.push_back(generation.token(id));
  if (tracker) {
    take_values(*tracker, m, result);
    if (tracker->empty_rows() > 0)
      result.notes.push_back(
          fmt::format("{} row(s) had nothing to divide by", tracker->empty_rows()));
  }
  result.timing.method = whole.seconds();
  return result;
}

Attribution at_layer(const Generated& generated, int layer) {
  const int l = resolve_index(layer, generated.layers.size(), "layer", generated.prompt.name);
  Attribution result = begin(generated);
  const int count = static_cast<int>(generated.values.size());
  Matrix values(count, static_cast<int>(generated.prompt.tokens.size()));
  for (int s = 0; s < count; ++s) {
    std::ranges::copy(column_of(generated.values[static_cast<size_t>(s)], l).row(0),
                      values.row(s).begin());
    result.rows.push_back(s);
  }
  result.layers.end = result.layers.begin + l + 1;
  result.values.push_back(std::move(values));
  return result;
}

Attribution of_token(const Generated& generated, int token, bool last) {
  const int s = resolve_index(token, static_cast<int>(generated.values.size()), "generated token",
                              generated.prompt.name);
  Attribution result = begin(generated);
  result.rows = {s};
  const Matrix& values = generated.values[static_cast<size_t>(s)];
  for (int l = last ? values.columns() - 1 : 0; l < values.columns(); ++l) {
    result.values.push_back(column_of(values, l));
    if (!last) result.by_layer.push_back(generated.layers.begin + l);
  }
  return result;
}

}  // namespace headwater
