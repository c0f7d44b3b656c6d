#include "headwater/output/document.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/version.h"
#include "headwater/output/document_parts.h"
#include "headwater/result/columns.h"
#include "headwater/result/left_out.h"
#include "headwater/result/row_to_show.h"

namespace headwater {
namespace {

// Columns, one entry an arc.
Document cut_document(const std::vector<CutArc>& cut) {
  std::vector<int> layers, from, to;
  std::vector<double> capacities;
  for (const CutArc& arc : cut) {
    layers.push_back(arc.layer);
    from.push_back(arc.from);
    to.push_back(arc.to);
    capacities.push_back(arc.capacity);
  }
  Document out;
  add(out, "layer", std::move(layers));
  add(out, "from", std::move(from));
  add(out, "to", std::move(to));
  add(out, "capacity", std::move(capacities));
  return out;
}

// Nothing is fused or prepared for relevance, so its options are its own.
Document relevance_options(const RelevanceRecord& record, Range layers) {
  Document out;
  add(out, "rule", to_string(record.rule));
  if (record.rule == RelevanceRule::integrated) {
    add(out, "steps", int64_t{record.steps});
    add(out, "baseline", record.baseline);
  }
  add(out, "layers", std::vector<int>{layers.begin, layers.end});
  return out;
}

void add_relevance(Document& out, const RelevanceRecord& record) {
  add(out, "rule", to_string(record.rule));
  add(out, "target", target_document(record.target));
  add(out, "output", record.output);
  add(out, "sum", record.sum);
  add(out, record.rule == RelevanceRule::integrated ? "baseline_output" : "biases", record.rest);
}

void add_relevance_maps(Document& out, const RelevanceRecord& record) {
  if (record.heads.rows() > 0) add(out, "heads", Numbers{{&record.heads, 1}, false, {}, {}});
  if (!record.layer) return;
  add(out, "edges_layer", int64_t{*record.layer});
  add(out, "edges", Numbers{{&record.edges, 1}, false, {}, {}});
}

Document filter_document(const Attribution& result, const std::vector<bool>& kept,
                         const Filter& filter) {
  std::vector<int> left_out;
  for (size_t j = 0; j < kept.size(); ++j)
    if (!kept[j]) left_out.push_back(static_cast<int>(j));
  std::vector<double> mass;
  const Matrix& last = values_to_show(result);
  for (int r = 0; r < last.rows(); ++r) mass.push_back(mass_left_out(last.row(r), kept));
  Document out;
  add(out, "left_out", std::move(left_out));
  add(out, "mass", std::move(mass));
  add(out, "renormalised", filter.renormalise);
  return out;
}

void need_shares(const Attribution& result) {
  if (result.has_signs)
    fail_usage(
        "`renormalise`: {} has signs, and its sum may be 0, expected values that are shares; leave "
        "it out",
        result.relevance ? result.method : "relevance");
}

Document begin(std::string method) {
  Document out;
  add(out, "headwater", std::string(version()));
  add(out, "method", std::move(method));
  return out;
}

// The tokens of each word, if tokens were merged to words.
void add_pieces(Document& out, const char* name, const std::vector<Range>& words) {
  if (words.empty()) return;
  Pairs pieces;
  for (const Range& word : words) pieces.push_back({word.begin, word.end});
  add(out, name, std::move(pieces));
}

Document document(const Attribution& result, const WriteOptions& options) {
  Document out = begin(result.method);
  if (!result.label.empty()) add(out, "label", result.label);
  add(out, "options",
      result.relevance ? relevance_options(*result.relevance, result.layers)
                       : options_document(result.options, result.layers));
  if (result.relevance) add_relevance(out, *result.relevance);
  if (result.gradient) {
    add(out, "rule", to_string(result.gradient->rule));
    add(out, "target", target_document(result.gradient->target));
  }
  add(out, "source", source_document(result.source));
  if (result.prediction) add(out, "prediction", prediction_document(*result.prediction));
  add(out, "tokens", result.source.tokens);
  add_pieces(out, "pieces", result.pieces);
  if (result.mean_row)
    add(out, "rows", std::vector<std::string>{"mean"});
  else
    add(out, "rows", result.rows);
  if (!result.columns.empty()) add(out, "columns", result.columns);
  if (!result.by_layer.empty()) add(out, "by_layer", result.by_layer);
  Numbers values{result.values, !result.by_layer.empty(), {}, result.exact};
  if (options.filter.any()) {
    need_all_columns(result, "`filter`");
    std::vector<bool> shown = kept(options.filter, result.source.tokens);
    add(out, "filter", filter_document(result, shown, options.filter));
    if (options.filter.renormalise) {
      need_shares(result);
      values.kept = std::move(shown);
    }
  }
  add(out, "values", std::move(values));
  if (result.relevance) add_relevance_maps(out, *result.relevance);
  if (result.cut) add(out, "cut", cut_document(*result.cut));
  if (result.gradient && !result.gradient->input.norm.empty()) {
    const InputGradient& input = result.gradient->input;
    add(out, "input_gradient", std::vector<float>(input.norm));
    add(out, "input_gradient_times_input", std::vector<float>(input.times_input));
  }
  add(out, "notes", result.notes);
  if (options.timing) add(out, "timing", timing_document(result.timing));
  return out;
}

Document document(const Comparison& result, const WriteOptions& options) {
  Document out = begin("compare");
  add(out, "by", result.by);
  std::vector<Document> panels;
  for (const Attribution& panel : result.panels) panels.push_back(document(panel, options));
  add(out, "panels", std::move(panels));
  add(out, "agreement", Numbers{{&result.agreement, 1}, false, {}, {}});
  return out;
}

Document document(const Metrics& result, const WriteOptions& options) {
  Document numbers;
  numbers.apart = true;
  add(numbers, "mean_attention", result.mean_attention);
  add(numbers, "max_attention", result.max_attention);
  add(numbers, "attention_entropy", result.attention_entropy);
  add(numbers, "attention_concentration", result.attention_concentration);
  add(numbers, "rollout_max", result.rollout_max);
  add(numbers, "rollout_entropy", result.rollout_entropy);
  add(numbers, "batch_size", int64_t{result.batch_size});
  add(numbers, "seq_length", int64_t{result.seq_length});
  Document out = begin("metrics");
  add(out, "options", options_document(result.options, result.layers));
  add(out, "source", source_document(result.source));
  add(out, "layer", int64_t{result.layer});
  if (result.prediction) add(out, "prediction", prediction_document(*result.prediction));
  std::vector<Document> said;
  for (const Prediction& one : result.predictions) said.push_back(prediction_document(one));
  if (!said.empty()) add(out, "predictions", std::move(said));
  add(out, "metrics", std::move(numbers));
  add(out, "notes", result.notes);
  if (options.timing) add(out, "timing", timing_document(result.timing));
  return out;
}

Document document(const Generated& result, const WriteOptions& options) {
  Document out = begin("generate");
  Document options_of_rule;
  if (result.how.relevance) {
    add(options_of_rule, "method", std::string("relevance"));
    add(options_of_rule, "rule", to_string(*result.how.relevance));
    add(options_of_rule, "score", to_string(result.how.score));
    add(options_of_rule, "layers", std::vector<int>{result.layers.begin, result.layers.end});
  }
  add(out, "options",
      result.how.relevance ? std::move(options_of_rule)
                           : options_document(result.options, result.layers));
  Document how;
  if (result.prompt.kind == "model") {  // how a text was written elsewhere is not known
    add(how, "count", int64_t{result.how.count});
    add(how, "temperature", result.how.temperature);
    add(how, "top_k", int64_t{result.how.top_k});
    add(how, "top_p", result.how.top_p);
    add(how, "seed", std::to_string(result.how.seed));
  }
  add(how, "position", std::string(result.how.own_position ? "own" : "predicting"));
  add(out, "generation", std::move(how));
  add(out, "source", source_document(result.prompt));
  const bool ran = result.prompt.kind == "model";
  add(out, result.target ? "source_tokens" : "prompt", result.prompt.tokens);
  if (ran) add(out, result.target ? "source_ids" : "prompt_ids", result.prompt.ids);
  add_pieces(out, "pieces", result.pieces);
  if (result.target) add(out, "target_tokens", result.target->tokens);
  if (result.target && ran) add(out, "target_ids", result.target->ids);
  add(out, "generated", result.tokens);
  add_pieces(out, "generated_pieces", result.generated_pieces);
  if (ran) {
    add(out, "generated_ids", result.ids);
    add(out, "text", result.text);
    add(out, "ended", result.ended);
  }
  if (!result.choices.empty()) add(out, "choices", choices_document(result.choices));
  Numbers values{result.values, true, {}, {}};
  if (options.filter.any() && (!result.values.empty() || result.relevance.rows() > 0)) {
    const Attribution last = result.values.empty() ? relevance_of(result) : at_layer(result);
    const std::vector<bool> shown = kept(options.filter, last.source.tokens);
    add(out, "filter", filter_document(last, shown, options.filter));
    if (options.filter.renormalise) {
      need_shares(last);
      values.renormalise_columns(shown);
    }
  }
  if (!result.values.empty()) add(out, "M", std::move(values));
  if (result.target && result.target->values.rows() > 0) {
    add(out, "target", Numbers{{&result.target->values, 1}, false, {}, {}});
    add(out, "encoder", Numbers{{&result.target->encoder, 1}, false, {}, {}});
  }
  if (result.relevance.rows() > 0) {
    if (result.span.size() > 0)
      add(out, "span", std::vector<int>{result.span.begin, result.span.end});
    add(out, "relevance", Numbers{{&result.relevance, 1}, false, {}, {}});
    add(out, "outputs", result.outputs);
    add(out, "biases", result.biases);
  }
  add(out, "notes", result.notes);
  if (options.timing) add(out, "timing", timing_document(result.timing));
  return out;
}

// An undefined mean is NaN here, which JSON writes as null.
Document spreads_document(const std::vector<Spread>& spreads) {
  std::vector<double> means, deviations;
  std::vector<int> counts;
  for (const Spread& spread : spreads) {
    means.push_back(spread.mean);
    deviations.push_back(spread.deviation);
    counts.push_back(spread.count);
  }
  Document out;
  add(out, "mean", std::move(means));
  add(out, "deviation", std::move(deviations));
  add(out, "count", std::move(counts));
  return out;
}

Document methods_document(const std::vector<MethodSpread>& methods) {
  Document out;
  for (const MethodSpread& method : methods)
    add(out, method.method, spreads_document(method.layers));
  return out;
}

Document example_document(const ExampleRecord& example, const Evaluation& result) {
  Document out;
  add(out, "line", int64_t{example.line});
  add(out, "tokens", example.tokens);
  add(out, "row", int64_t{example.row});
  add(out, "target", logit_document(example.target));
  if (example.probability) add(out, "probability", *example.probability);
  std::vector<int> counted;
  for (size_t j = 0; j < example.counted.size(); ++j)
    if (example.counted[j]) counted.push_back(static_cast<int>(j));
  add(out, "counted", std::move(counted));
  if (!example.blank_out.empty()) add(out, "blank-out", example.blank_out);
  add(out, "gradient", example.gradient);
  Document all;
  for (size_t r = 0; r < example.correlation.size(); ++r) {
    Document by_method;
    for (size_t m = 0; m < example.correlation[r].size(); ++m)
      add(by_method, result.methods[m], example.correlation[r][m]);
    add(all, result.correlations[r].against, std::move(by_method));
  }
  add(out, "correlation", std::move(all));
  return out;
}

Document document(const Evaluation& result, const WriteOptions& options) {
  Document out = begin("evaluate");
  add(out, "options", options_document(result.options, result.layers));
  Document source = source_document(result.source);
  std::erase_if(source.fields, [](const Field& field) {
    return field.name == "tokens" || field.name == "item" || field.name == "items" ||
           field.name == "image";
  });
  add(out, "source", std::move(source));
  add(out, "file", result.file);
  add(out, "count", static_cast<int64_t>(result.examples.size()));
  Document correlations, shares, faithfulness;
  correlations.apart = shares.apart = faithfulness.apart = true;
  for (const CorrelationTable& table : result.correlations)
    add(correlations, table.against, methods_document(table.methods));
  add(out, "correlation", std::move(correlations));
  if (result.truth) {
    add(shares, "methods", methods_document(result.truth->methods));
    if (!result.truth->found.empty()) add(shares, "found", methods_document(result.truth->found));
    add(shares, "chance", spreads_document({result.truth->chance}));
    add(out, "truth", std::move(shares));
  }
  for (const FaithfulnessSpread& one : result.faithfulness) {
    Document numbers;
    add(numbers, "comprehensiveness", spreads_document({one.comprehensiveness}));
    add(numbers, "sufficiency", spreads_document({one.sufficiency}));
    add(numbers, "area", spreads_document({one.area}));
    add(numbers, "curve", one.curve);
    add(faithfulness, one.method, std::move(numbers));
  }
  if (!result.faithfulness.empty()) add(out, "faithfulness", std::move(faithfulness));
  std::vector<Document> examples;
  for (const ExampleRecord& example : result.examples)
    examples.push_back(example_document(example, result));
  add(out, "examples", std::move(examples));
  add(out, "notes", result.notes);
  if (options.timing) add(out, "timing", timing_document(result.timing));
  return out;
}

Document document(const Info& result, const WriteOptions&) {
  Document out = begin("info");
  add(out, "source", source_document(result.source));
  add(out, "reading", result.reading);
  add(out, "causal", result.causal);
  add(out, "kernel", result.kernel);
  add(out, "threads", int64_t{result.threads});
  if (result.model) add(out, "model", model_document(*result.model));
  if (result.prediction) add(out, "prediction", prediction_document(*result.prediction));
  if (!result.notes.empty()) add(out, "notes", result.notes);
  if (!result.source.ids.empty()) add(out, "ids", result.source.ids);
  add(out, "tokens", result.source.tokens);
  if (!result.source.places.empty()) {
    // Pairs, as in Python's tokenizers, but in bytes.
    Pairs offsets;
    std::vector<int> texts;
    for (const TokenPlace& place : result.source.places) {
      offsets.push_back({static_cast<int>(place.begin), static_cast<int>(place.end)});
      texts.push_back(place.text);
    }
    add(out, "offsets", std::move(offsets));
    add(out, "texts", std::move(texts));
  }
  return out;
}

}  // namespace

Document document_of(ResultView result, const WriteOptions& options) {
  return result.visit([&](const auto& one) { return document(one, options); });
}

}  // namespace headwater
