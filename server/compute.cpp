#include "server/compute.h"

#include <fmt/format.h>

#include "headwater/core/fail.h"
#include "headwater/method/average.h"
#include "headwater/method/compare.h"
#include "headwater/method/flow/flow.h"
#include "headwater/method/generate.h"
#include "headwater/method/gradient.h"
#include "headwater/method/layer_maps.h"
#include "headwater/method/relevance.h"
#include "headwater/method/rollout.h"
#include "headwater/result/gradient_record.h"
#include "headwater/result/relevance_record.h"

namespace headwater::server {
namespace {

constexpr int64_t most_numbers = 12 * 512 * 512;  // of maps in an answer

FlowOptions flow_for(Listener& listener) {
  FlowOptions how;
  how.progress = [&listener](int64_t done, int64_t total) {
    listener.progress("pair", done, total);
  };
  return how;
}

// The layers' maps if they fit into a page, else a note that they do not.
Attribution with_maps(const Question& question, Source& source, Attribution result) {
  if (!question.keep) return result;
  const auto n = static_cast<int64_t>(result.source.tokens.size());
  const int64_t numbers = n * n * result.layers.size();
  if (numbers <= most_numbers)
    result.maps = maps_of(source, result);
  else
    result.notes.push_back(
        fmt::format("the layers' maps are left out: they have {} numbers, and this page takes {}; "
                    "the command writes a page with all of them",
                    numbers, most_numbers));
  return result;
}

Comparison compared(const Question& question, Source& source, Source* other, Listener& listener) {
  const Options& options = question.options;
  if (question.by == "model") return compare_model(source, *other, options);
  if (question.by == "layer") return compare_layer(source, options, question.layer);
  if (question.by == "evolution") return compare_evolution(source, options);
  if (question.by == "discard") return compare_discard(source, options);
  if (question.by == "fuse") return compare_fuse(source, options);
  if (question.by == "head") return compare_head(source, options);
  if (question.by == "method" || question.by.empty())
    return compare_method(source, options, flow_for(listener));
  fail_usage(
      "`by` '{}': expected layer, evolution, discard, fuse, head, method or model; choose one",
      question.by);
}

}  // namespace

Watch watch_for(Listener& listener) {
  return [&listener](const char* what) -> Count {
    return [&listener, what](int64_t done, int64_t total) { listener.progress(what, done, total); };
  };
}

Result compute(const Question& question, Source& source, Source* other, Listener& listener) {
  const Options& options = question.options;
  if (question.method == "compare") return compared(question, source, other, listener);
  if (question.method == "raw") return raw(source, question.layer, options);
  if (question.method == "average") return with_maps(question, source, average(source, options));
  if (question.method == "flow")
    return with_maps(question, source, flow(source, options, flow_for(listener)));
  if (question.method == "gradient") {
    GradientOptions what{.target = question.target, .against = question.against};
    if (!question.rule.empty()) what.rule = parse_gradient_rule(question.rule);
    return gradient(source, options, what);
  }
  if (question.method == "relevance") {
    RelevanceOptions what{
        .target = question.target, .against = question.against, .row = options.row};
    if (!question.rule.empty()) what.rule = parse_relevance_rule(question.rule);
    what.by_layer = what.rule != RelevanceRule::integrated;
    what.heads = what.by_layer;
    return relevance(source, what);
  }
  return with_maps(question, source, rollout(source, options));
}

Result compute(const Question& question, Generation& generation) {
  GenerateOptions how{.count = question.count};
  if (question.explain == "relevance")
    how.relevance =
        question.rule.empty() ? RelevanceRule::frozen : parse_relevance_rule(question.rule);
  else if (!question.rule.empty())
    fail_usage("`rule`: was given without `explain` relevance, expected both; add it");
  else if (!question.explain.empty() && question.explain != "rollout")
    fail_usage("`explain` '{}': expected rollout or relevance; choose one", question.explain);
  return generate(generation, question.options, how);
}

}  // namespace headwater::server
