#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "headwater/core/fail.h"
#include "headwater/method/compare.h"
#include "headwater/output/json.h"
#include "headwater/output/page/page.h"
#include "headwater/output/write.h"
#include "headwater/result/row_to_show.h"
#include "headwater/result/token_text.h"
#include "headwater/result/top.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Words = std::vector<std::string>;
using Values = nb::ndarray<nb::numpy, nb::ndim<2>>;

Result& result_at(Results& self, int k) { return self.list.at(static_cast<size_t>(k)); }

// `data` as it lies in the result, which `owner` keeps alive.
template <class Number>
Values view_of(Number* data, int rows, int columns, nb::handle owner) {
  return Values(data, {static_cast<size_t>(rows), static_cast<size_t>(columns)}, owner, {},
                nb::dtype<std::remove_const_t<Number>>());
}

Values matrix(nb::handle_t<Results> owner, int k, int panel, int m) {
  auto& self = nb::cast<Results&>(owner);
  const auto at = static_cast<size_t>(m);
  if (auto* generated = std::get_if<Generated>(&result_at(self, k))) {
    Matrix& values = generated->values.at(at);
    return view_of(values.data(), values.rows(), values.columns(), owner);
  }
  Attribution& result = attribution_at(self, k, panel);
  if (!result.exact.empty()) {
    DoubleMatrix& exact = result.exact.at(at);
    return view_of(exact.row(0).data(), exact.rows(), exact.columns(), owner);
  }
  Matrix& values = result.values.at(at);
  return view_of(values.data(), values.rows(), values.columns(), owner);
}

Dictionary options_of_result(const Options& options, Range layers) {
  Dictionary out;
  out.update(nb::cast<nb::dict>(nb::cast(options).attr("words")()));
  nb::list range;
  range.append(layers.begin);
  range.append(layers.end);
  out["layers"] = range;
  return out;
}

// (layer, output token, input token, weight) for each.
nb::list cut_of(const std::vector<CutArc>& cut) {
  nb::list arcs;
  for (const CutArc& arc : cut)
    arcs.append(nb::make_tuple(arc.layer, arc.from, arc.to, arc.capacity));
  return arcs;
}

Dictionary logit_of(const Logit& logit) {
  Dictionary out;
  out["name"] = logit.name;
  out["id"] = logit.id;
  out["row"] = logit.row;
  out["value"] = logit.value;
  return out;
}

Dictionary relevance_options(const RelevanceRecord& record, Range layers) {
  Dictionary out;
  out["rule"] = to_string(record.rule);
  if (record.rule == RelevanceRule::integrated) {
    out["steps"] = record.steps;
    out["baseline"] = record.baseline;
  }
  out["layers"] = std::vector<int>{layers.begin, layers.end};
  return out;
}

// What a result of relevance records, under the names of its JSON.
Dictionary relevance_of(const RelevanceRecord& record) {
  Dictionary out, target = logit_of(record.target.logit);
  if (record.target.against) target["against"] = logit_of(*record.target.against);
  out["rule"] = to_string(record.rule);
  out["target"] = target;
  out["output"] = record.output;
  out["sum"] = record.sum;
  out[record.rule == RelevanceRule::integrated ? "baseline_output" : "biases"] = record.rest;
  if (record.layer) out["edges_layer"] = *record.layer;
  return out;
}

Values extra(nb::handle_t<Results> owner, int k, const std::string& name) {
  auto& self = nb::cast<Results&>(owner);
  Matrix* found = nullptr;
  if (auto* generated = std::get_if<Generated>(&result_at(self, k))) {
    found = name == "relevance"  ? &generated->relevance
            : !generated->target ? nullptr
            : name == "encoder"  ? &generated->target->encoder
                                 : &generated->target->values;
  } else if (Attribution& result = attribution_at(self, k, 0); result.relevance) {
    found = name == "heads" ? &result.relevance->heads : &result.relevance->edges;
  }
  if (!found) fail("{}: there is no such array in this result", name);
  return view_of(found->data(), found->rows(), found->columns(), owner);
}

std::vector<std::pair<int, int>> pairs_of(const std::vector<Range>& words) {
  std::vector<std::pair<int, int>> out;
  for (const Range& word : words) out.emplace_back(word.begin, word.end);
  return out;
}

Dictionary facts(Results& self, int k, int panel) {
  const Attribution& result = attribution_at(self, k, panel);
  Dictionary out;
  out["method"] = result.method;
  out["tokens"] = result.source.tokens;
  out["rows"] = result.mean_row ? nb::cast(Words{"mean"}) : nb::cast(result.rows);
  out["by_layer"] = result.by_layer;
  out["columns"] = result.columns;
  out["pieces"] = pairs_of(result.pieces);
  out["cut"] = result.cut ? nb::object(cut_of(*result.cut)) : nb::none();
  out["notes"] = result.notes;
  out["label"] = result.label;
  out["source"] = result.source.name;
  out["matrices"] = result.values.size();
  size_t embedded = 0;
  for (const Matrix& map : result.maps) embedded += map.size();
  out["embedded"] = embedded;
  out["relevance"] = result.relevance ? nb::object(relevance_of(*result.relevance)) : nb::none();
  out["options"] = result.relevance ? relevance_options(*result.relevance, result.layers)
                                    : options_of_result(result.options, result.layers);
  const Target* target = result.relevance  ? &result.relevance->target
                         : result.gradient ? &result.gradient->target
                                           : nullptr;
  out["target"] = target ? nb::cast(target->logit.name) : nb::none();
  out["probability"] = target ? nb::cast(target->logit.probability) : nb::none();
  return out;
}

Dictionary generated_facts(Results& self, int k) {
  const auto& result = std::get<Generated>(result_at(self, k));
  Dictionary options, out;
  // Relevance fuses and prepares nothing.
  if (!result.how.relevance) options = options_of_result(result.options, result.layers);
  options["layers"] = std::vector<int>{result.layers.begin, result.layers.end};
  options["count"] = result.how.count;
  options["temperature"] = result.how.temperature;
  options["top_k"] = result.how.top_k;
  options["top_p"] = result.how.top_p;
  options["seed"] = std::to_string(result.how.seed);
  options["position"] = result.how.own_position ? "own" : "predicting";
  if (result.how.relevance) {
    options["method"] = "relevance";
    options["rule"] = to_string(*result.how.relevance);
    options["score"] = to_string(result.how.score);
    out["outputs"] = result.outputs;
    out["biases"] = result.biases;
    if (result.span.size() > 0)
      options["span"] = std::vector<int>{result.span.begin, result.span.end};
  }
  out["options"] = options;
  out["prompt"] = result.prompt.tokens;
  out["pieces"] = pairs_of(result.pieces);
  out["prompt_ids"] = result.prompt.ids;
  out["target_tokens"] = result.target ? nb::cast(result.target->tokens) : nb::none();
  if (result.target) out["target_ids"] = result.target->ids;
  out["generated"] = result.tokens;
  out["generated_ids"] = result.ids;
  out["text"] = result.text;
  out["ended"] = result.ended;
  out["notes"] = result.notes;
  out["matrices"] = result.values.size();
  return out;
}

Dictionary metrics_facts(Results& self, int k) {
  const auto& result = std::get<Metrics>(result_at(self, k));
  Dictionary numbers, out;
  numbers["mean_attention"] = result.mean_attention;
  numbers["max_attention"] = result.max_attention;
  numbers["attention_entropy"] = result.attention_entropy;
  numbers["attention_concentration"] = result.attention_concentration;
  numbers["rollout_max"] = result.rollout_max;
  numbers["rollout_entropy"] = result.rollout_entropy;
  numbers["batch_size"] = result.batch_size;
  numbers["seq_length"] = result.seq_length;
  out["metrics"] = numbers;
  out["options"] = options_of_result(result.options, result.layers);
  out["notes"] = result.notes;
  return out;
}

WriteOptions write_options(const std::string& filter, bool renormalise, bool timing, bool list) {
  WriteOptions options;
  if (!filter.empty()) options.filter = parse_filter(filter);
  options.filter.renormalise = renormalise;
  options.timing = timing;
  options.list = list;
  return options;
}

std::string json_of(const Results& self, std::optional<int> item, const WriteOptions& options) {
  std::string text;
  const Sink sink = [&](std::string_view bytes) { text += bytes; };
  if (item || (self.list.size() == 1 && !options.list)) {
    write_json(document_of(self.list.at(static_cast<size_t>(item.value_or(0))), options), sink);
    return text;
  }
  std::vector<Document> documents;
  for (const Result& result : self.list) documents.push_back(document_of(result, options));
  write_json(documents, sink);
  return text;
}

void save(const Results& self, const std::string& path, std::optional<int> item,
          const WriteOptions& options) {
  if (item)
    write(ResultView(self.list.at(static_cast<size_t>(*item))), path, options);
  else
    write(self.list, path, options);
}

// The page of the results, or only what it holds.
std::string page_of(const Results& self, std::optional<int> item, bool only_data,
                    const WriteOptions& options) {
  std::vector<ResultView> views;
  for (size_t k = 0; k < self.list.size(); ++k)
    if (!item || static_cast<size_t>(*item) == k) views.emplace_back(self.list[k]);
  if (only_data) return page_data(views, options);
  std::string text;
  write_page(views, options, [&](std::string_view bytes) { text += bytes; });
  return text;
}

Values agreement(nb::handle_t<Results> owner, int k) {
  Matrix& values = std::get<Comparison>(result_at(nb::cast<Results&>(owner), k)).agreement;
  return view_of(values.data(), values.rows(), values.columns(), owner);
}

template <class Number>
std::vector<int> top_of(
    nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, int count,
    const std::string& filter, const Words& tokens) {
  std::vector<bool> shown;
  if (!filter.empty()) {
    shown = kept(parse_filter(filter), tokens);
    if (shown.size() != values.shape(0))
      fail("top: has {} tokens, expected {}, one for each value", shown.size(), values.shape(0));
  }
  return top(std::span<const Number>(values.data(), values.shape(0)), count, shown);
}

}  // namespace

Attribution& attribution_at(Results& self, int k, int panel) {
  Result& result = result_at(self, k);
  if (auto* comparison = std::get_if<Comparison>(&result))
    return comparison->panels.at(static_cast<size_t>(panel));
  return std::get<Attribution>(result);
}

void bind_results(nb::module_& module) {
  nb::class_<Results> results(module, "Results", "What a method gave for the items of a batch.");
  results.def(nb::init<>())
      .def("__len__", [](const Results& self) { return self.list.size(); })
      .def("facts", &facts, "k"_a, "panel"_a = 0, "All of a result except its values.")
      .def("generated", &generated_facts, "k"_a,
           "All of a generated text except its values, of which matrix m is M[m].")
      .def("metrics", &metrics_facts, "k"_a, "The numbers, options and notes of metrics.")
      .def(
          "panels",
          [](Results& self, int k) {
            const auto* comparison = std::get_if<Comparison>(&result_at(self, k));
            return comparison ? comparison->panels.size() : 0;
          },
          "k"_a, "How many panels result k has; 0 if it is not a comparison.")
      .def("matrix", &matrix, "k"_a, "panel"_a = 0, "m"_a = 0,
           "Matrix m of result k, without a copy: [rows, n] float32, for flow float64; of a "
           "generated text [prompt, layers].")
      .def("extra", &extra, "k"_a, "name"_a,
           "'heads' or 'edges' of a result of relevance, or 'relevance' of a generated text, "
           "without "
           "a copy.")
      .def("agreement", &agreement, "k"_a,
           "Spearman's rank correlation between the panels of a comparison, [P, P] float32.")
      .def(
          "row_to_show",
          [](Results& self, int k, int panel) {
            return row_to_show(attribution_at(self, k, panel));
          },
          "k"_a, "panel"_a = 0, "The row that is shown where only one is.")
      .def(
          "json",
          [](const Results& self, std::optional<int> item, const std::string& filter,
             bool renormalise, bool timing, bool list) {
            nb::gil_scoped_release release;
            return json_of(self, item, write_options(filter, renormalise, timing, list));
          },
          "item"_a = nb::none(), "filter"_a = "", "renormalise"_a = false, "timing"_a = false,
          "list"_a = false, "The results, or one of them, as the JSON that the command writes.")
      .def(
          "save",
          [](const Results& self, const std::string& path, std::optional<int> item,
             const std::string& filter, bool renormalise, bool timing, bool list) {
            nb::gil_scoped_release release;
            save(self, path, item, write_options(filter, renormalise, timing, list));
          },
          "path"_a, "item"_a = nb::none(), "filter"_a = "", "renormalise"_a = false,
          "timing"_a = false, "list"_a = false,
          "Writes the results, or one of them, as .json .npy .npz .png .svg .pdf or .html.")
      .def(
          "page",
          [](const Results& self, std::optional<int> item, const std::string& filter,
             bool renormalise, bool only_data) {
            nb::gil_scoped_release release;
            return page_of(self, item, only_data, write_options(filter, renormalise, false, false));
          },
          "item"_a = nb::none(), "filter"_a = "", "renormalise"_a = false, "only_data"_a = false,
          "The page that .html holds, or only its data, as a server sends it.")
      .def("__getstate__", [](Results& self) { return to_bytes(self); })
      .def("__setstate__",
           [](Results& self, const nb::bytes& state) { new (&self) Results(from_bytes(state)); });
  bind_made(results);
  module.def("labels", &token_labels, "tokens"_a, "longest"_a = 24,
             "Tokens as people read them on an axis.");
  const char* about =
      "The places of the `count` largest values, largest first, equal ones in order. A `filter` "
      "leaves out tokens, of which there is one for each value.";
  module.def("top", &top_of<float>, "values"_a, "count"_a, "filter"_a = "", "tokens"_a = Words(),
             about);
  module.def("top", &top_of<double>, "values"_a, "count"_a, "filter"_a = "", "tokens"_a = Words(),
             about);
}

}  // namespace headwater::python
