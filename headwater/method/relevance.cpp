#include "headwater/method/relevance.h"

#include <algorithm>
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/core/stopwatch.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/conserved.h"
#include "headwater/result/find_rows.h"
#include "headwater/result/token_text.h"
#include "headwater/source/differentiable.h"

namespace headwater {
namespace {

constexpr int usual_steps = 20;

void check_rule(const RelevanceOptions& what) {
  const bool integrates = what.rule == RelevanceRule::integrated;
  const auto refuse = [&](bool given, const char* name) {
    if (given)
      fail_usage("`{}`: is not part of `rule` {}, expected {}; leave it out", name,
                 to_string(what.rule), integrates ? "frozen or attnlrp" : "integrated");
  };
  refuse(!integrates && what.steps, "steps");
  refuse(!integrates && !what.baseline.empty(), "baseline");
  refuse(integrates && what.by_layer, "by_layer");
  refuse(integrates && what.heads, "heads");
  refuse(integrates && what.edges, "edges");
  if (what.steps && (*what.steps < 1 || *what.steps > 100'000))
    fail_usage("`steps` {}: expected 1 to 100000; choose another", *what.steps);
  check_one_token(what.row);
}

RelevanceRequest request_of(const RelevanceOptions& what, const Description& described) {
  RelevanceRequest out;
  out.target = what.target;
  out.against = what.against;
  if (what.row.kind != Row::Kind::all)
    out.row = find_one_row(what.row, described.tokens, described.name);
  out.rule = what.rule;
  out.by_layer = what.by_layer;
  out.heads = what.heads;
  if (what.edges) out.edges = resolve_index(*what.edges, described.layers, "layer", described.name);
  out.steps = what.steps.value_or(usual_steps);
  out.baseline = what.baseline.empty() && !described.patches ? "mask" : what.baseline;
  return out;
}

// Whether tokens and the rest add up to the output, where the rule says that they do.
void note_sum(const RelevanceAnswer& answer, const RelevanceRequest& request,
              std::vector<std::string>& notes) {
  const double off = answer.sum + answer.rest - answer.output;
  if (request.rule == RelevanceRule::integrated) {
    const double whole = answer.output - answer.rest;
    notes.push_back(fmt::format(
        "integrated gradients, {} steps from {}: the tokens sum to {:.4g} and the output changes "
        "by {:.4g}; the difference, {:.2g}, is the error of the steps{}",
        request.steps,
        answer.baseline == "zero" ? "zero"
                                  : fmt::format("'{}'", token_labels({answer.baseline})[0]),
        answer.sum, whole, off,
        std::abs(off) > 0.05 * std::abs(whole) ? "; more steps make it smaller" : ""));
    return;
  }
  if (request.rule != RelevanceRule::frozen) return;
  if (const auto note = note_lost(answer.input, answer.rest, answer.output)) notes.push_back(*note);
}

Matrix as_row(std::span<const float> values) {
  Matrix row(1, static_cast<int>(values.size()));
  std::ranges::copy(values, row.row(0).begin());
  return row;
}

}  // namespace

Attribution relevance(Source& source, const RelevanceOptions& what) {
  const Stopwatch whole;
  check_rule(what);
  const Description& described = source.description();
  const RelevanceRequest request = request_of(what, described);
  RelevanceAnswer answer = differentiable(source).relevance(request);
  const Logit& logit = answer.target.logit;
  if (request.row && *request.row != logit.row)
    fail_usage("`row` {}: '{}' is an output of token {} '{}', expected that row; leave it out",
               *request.row, token_labels({logit.name})[0], logit.row,
               token_labels(described.tokens)[static_cast<size_t>(logit.row)]);

  Attribution result;
  result.method = "relevance";
  result.options.row = what.row;
  result.layers = {0, described.layers};
  result.source = described;
  result.rows = {answer.target.logit.row};
  result.has_signs = true;
  result.values.push_back(as_row(answer.input));
  if (what.by_layer) {
    result.by_layer.push_back(-1);
    for (int l = 0; l < answer.by_layer.rows(); ++l) {
      result.by_layer.push_back(l);
      result.values.push_back(as_row(answer.by_layer.row(l)));
    }
  }
  note_sum(answer, request, result.notes);
  RelevanceRecord& record = result.relevance.emplace();
  record.rule = what.rule;
  record.target = std::move(answer.target);
  record.output = answer.output;
  record.sum = answer.sum;
  record.rest = answer.rest;
  if (what.rule == RelevanceRule::integrated) record.steps = request.steps;
  record.baseline = std::move(answer.baseline);
  record.layer = request.edges;
  record.heads = std::move(answer.heads);
  record.edges = std::move(answer.edges);
  for (std::string& note : source.notes()) result.notes.push_back(std::move(note));
  result.timing.method = whole.seconds();
  return result;
}

}  // namespace headwater
