// Results that Python puts together, and results made from results.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "headwater/core/fail.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/compare.h"
#include "headwater/result/generated_words.h"
#include "headwater/result/words.h"
#include "python/binding/arrays.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Words = std::vector<std::string>;
using Given = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Offsets = std::optional<std::vector<std::pair<int, int>>>;

// A result that was computed elsewhere (on a GPU); fill() brings its values when they are needed.
void add(Results& self, const std::string& method, const Options& options, Words tokens,
         std::vector<int> rows, std::vector<int> by_layer, std::vector<int> heads, Words notes,
         const std::string& name, int item, int items, int padded) {
  Attribution out;
  out.method = method;
  out.options = options;
  out.source.kind = "capture";
  out.source.name = name;
  out.source.layers = static_cast<int>(heads.size());
  out.source.heads = std::move(heads);
  out.source.item = item;
  out.source.items = items;
  out.source.padded = padded;
  out.source.tokens = std::move(tokens);
  out.layers = resolve(options.layers, std::max(out.source.layers, 1), name);
  out.rows = std::move(rows);
  out.mean_row = options.row.kind == Row::Kind::mean;
  out.by_layer = std::move(by_layer);
  out.notes = std::move(notes);
  self.list.emplace_back(std::move(out));
}

std::vector<Matrix> matrices_of(const Given& values) {
  std::vector<Matrix> out;
  const size_t size = values.shape(1) * values.shape(2);
  for (size_t m = 0; m < values.shape(0); ++m) {
    Matrix& matrix =
        out.emplace_back(static_cast<int>(values.shape(1)), static_cast<int>(values.shape(2)));
    std::copy_n(values.data() + m * size, size, matrix.data());
  }
  return out;
}

void fill(Results& self, int k, const Given& values) {
  Attribution& result = attribution_at(self, k, 0);
  const size_t rows = result.mean_row ? 1 : result.rows.size(),
               columns = result.source.tokens.size();
  const size_t matrices = std::max<size_t>(result.by_layer.size(), 1);
  if (values.shape(0) != matrices || values.shape(1) != rows || values.shape(2) != columns)
    fail("{}: has {} x {} x {} values, expected {} x {} x {}", result.source.name, values.shape(0),
         values.shape(1), values.shape(2), matrices, rows, columns);
  result.values = matrices_of(values);
}

// Name, id, row and value.
using LogitParts = std::tuple<std::string, int, int, double>;

Logit logit_from(const LogitParts& parts) {
  const auto& [name, id, row, value] = parts;
  return {name, id, row, value};
}

// What relevance records about a result that was computed elsewhere.
void set_relevance(Results& self, int k, const std::string& rule, const LogitParts& target,
                   const std::optional<LogitParts>& against, double output, double sum, double rest,
                   int steps, const std::string& baseline) {
  Attribution& result = attribution_at(self, k, 0);
  RelevanceRecord& record = result.relevance.emplace();
  record.rule = parse_relevance_rule(rule);
  record.target.logit = logit_from(target);
  if (against) record.target.against = logit_from(*against);
  record.output = output;
  record.sum = sum;
  record.rest = rest;
  record.steps = steps;
  record.baseline = baseline;
  result.has_signs = true;
}

Matrix copy_of_array(const In& values) {
  Matrix out(static_cast<int>(values.shape(0)), static_cast<int>(values.shape(1)));
  std::copy_n(values.data(), out.size(), out.data());
  return out;
}

void set_head_shares(Results& self, int k, const In& shares) {
  attribution_at(self, k, 0).relevance.value().heads = copy_of_array(shares);
}

void set_edges(Results& self, int k, int layer, const In& edges) {
  RelevanceRecord& record = attribution_at(self, k, 0).relevance.value();
  record.layer = layer;
  record.edges = copy_of_array(edges);
}

void set_gradient(Results& self, int k, const std::string& rule, const std::string& name,
                  std::optional<int> id, std::optional<int> row, double value,
                  std::vector<float> norm, std::vector<float> times_input) {
  GradientRecord record;
  record.rule = parse_gradient_rule(rule);
  record.target.logit = {name, id.value_or(-1), row.value_or(-1), value};
  record.input = {std::move(norm), std::move(times_input)};
  attribution_at(self, k, 0).gradient = std::move(record);
}

// A text that a model wrote elsewhere: M is [generated, prompt, layers].
void add_generated(Results& self, const Options& options, const std::string& name, Words prompt,
                   Words generated, int layers, bool own_position, const Given& M, Words notes) {
  Generated out;
  out.options = options;
  out.how.own_position = own_position;
  out.prompt.kind = "capture";
  out.prompt.name = name;
  out.prompt.layers = layers;
  out.layers = resolve(options.layers, layers, name);
  out.prompt.padded = static_cast<int>(prompt.size());
  out.prompt.tokens = std::move(prompt);
  out.tokens = std::move(generated);
  if (M.shape(0) != out.tokens.size() || M.shape(1) != out.prompt.tokens.size() ||
      M.shape(2) != static_cast<size_t>(out.layers.size()))
    fail("{}: has {} x {} x {} values, expected {} x {} x {}", name, M.shape(0), M.shape(1),
         M.shape(2), out.tokens.size(), out.prompt.tokens.size(), out.layers.size());
  out.values = matrices_of(M);
  out.notes = std::move(notes);
  self.list.emplace_back(std::move(out));
}

using Numbers = std::map<std::string, double>;

// Metrics that were computed elsewhere, under the names of their JSON.
void add_metrics(Results& self, const Numbers& numbers, const Options& options,
                 std::vector<int> heads, int layer, const std::string& name, Words notes) {
  Metrics out;
  out.mean_attention = numbers.at("mean_attention");
  out.max_attention = numbers.at("max_attention");
  out.attention_entropy = numbers.at("attention_entropy");
  out.attention_concentration = numbers.at("attention_concentration");
  out.rollout_max = numbers.at("rollout_max");
  out.rollout_entropy = numbers.at("rollout_entropy");
  out.batch_size = static_cast<int>(numbers.at("batch_size"));
  out.seq_length = static_cast<int>(numbers.at("seq_length"));
  out.options = options;
  out.source.kind = "capture";
  out.source.name = name;
  out.source.layers = static_cast<int>(heads.size());
  out.source.heads = std::move(heads);
  out.source.items = out.batch_size;
  out.source.padded = out.seq_length;
  out.layers = resolve(options.layers, out.source.layers, name);
  out.layer = layer;
  out.notes = std::move(notes);
  self.list.emplace_back(std::move(out));
}

// The places of a source's tokens, by a tokenizer's offsets.
void set_places(Description& source, const Offsets& offsets) {
  if (!offsets) return;
  if (offsets->size() != source.tokens.size())
    fail(
        "`offsets`: has {} pairs for {} tokens, expected as many; give the offset_mapping of the "
        "same text, without padding",
        offsets->size(), source.tokens.size());
  source.places.clear();
  for (const auto& [begin, end] : *offsets)
    source.places.push_back(
        {0, static_cast<size_t>(std::max(begin, 0)), static_cast<size_t>(std::max(end, 0))});
}

Results words(Results& self, int k, std::optional<int> panel, const Offsets& offsets) {
  Results out;
  Result& given = self.list.at(static_cast<size_t>(k));
  if (auto* generated = std::get_if<Generated>(&given)) {
    Generated result = copy_of(*generated);
    set_places(result.prompt, offsets);
    out.list.emplace_back(merge_words(std::move(result)));
  } else if (auto* comparison = std::get_if<Comparison>(&given); comparison && !panel) {
    Comparison result = copy_of(*comparison);
    for (Attribution& one : result.panels) set_places(one.source, offsets);
    out.list.emplace_back(merge_words(std::move(result)));
  } else {
    Attribution result = copy_of(attribution_at(self, k, panel.value_or(0)));
    set_places(result.source, offsets);
    out.list.emplace_back(merge_words(std::move(result)));
  }
  return out;
}

}  // namespace

void bind_made(nb::class_<Results>& results) {
  results
      .def("add", &add, "method"_a, "options"_a, "tokens"_a, "rows"_a, "by_layer"_a, "heads"_a,
           "notes"_a, "name"_a, "item"_a, "items"_a, "padded"_a,
           "Adds a result that was computed elsewhere; fill() sets its values.")
      .def("fill", &fill, "k"_a, "values"_a,
           "Sets the values of an added result: [matrices, rows, n] float32.")
      .def(
          "set_relevance", &set_relevance, "k"_a, "rule"_a, "target"_a, "against"_a, "output"_a,
          "sum"_a, "rest"_a, "steps"_a = 0, "baseline"_a = "",
          "Makes an added result one of relevance. target and against: name, id, row, value. rest: "
          "what biases take, or of integrated gradients the output at the baseline.")
      .def("set_head_shares", &set_head_shares, "k"_a, "shares"_a,
           "Adds the share of each head to a result of relevance: [layers, heads] float32.")
      .def("set_edges", &set_edges, "k"_a, "layer"_a, "edges"_a,
           "Adds the edges of a layer to a result of relevance: [n, n] float32.")
      .def("set_gradient", &set_gradient, "k"_a, "rule"_a, "name"_a, "id"_a, "row"_a, "value"_a,
           "norm"_a, "times_input"_a,
           "Makes an added result that of a gradient: its rule, its target, and the input "
           "gradients of each token, which may be empty.")
      .def("add_generated", &add_generated, "options"_a, "name"_a, "prompt"_a, "generated"_a,
           "layers"_a, "own_position"_a, "M"_a, "notes"_a,
           "Adds a text that was written elsewhere: M is [generated, prompt, layers] float32.")
      .def("add_metrics", &add_metrics, "numbers"_a, "options"_a, "heads"_a, "layer"_a, "name"_a,
           "notes"_a, "Adds metrics that were computed elsewhere.")
      .def("words", &words, "k"_a, "panel"_a = nb::none(), "offsets"_a = nb::none(),
           "Result k, or one of its panels, by words: pieces are merged by their offsets or by "
           "their marks.");
}

}  // namespace headwater::python
