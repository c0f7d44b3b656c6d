#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/method/compare.h"
#include "headwater/output/json.h"
#include "headwater/output/write.h"
#include "headwater/result/token_text.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Words = std::vector<std::string>;
using Given = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

Result& result_at(Results& self, int k) { return self.list.at(static_cast<size_t>(k)); }

// Panel p of a comparison, or the result itself.
const Attribution& attribution_at(Results& self, int k, int panel) {
  Result& result = result_at(self, k);
  if (auto* comparison = std::get_if<Comparison>(&result))
    return comparison->panels.at(static_cast<size_t>(panel));
  return std::get<Attribution>(result);
}

// Matrix m of the values as it lies in the result, which `owner` keeps alive.
nb::object matrix(nb::object owner, int k, int panel, int m) {
  const Attribution& result = attribution_at(nb::cast<Results&>(owner), k, panel);
  const auto at = static_cast<size_t>(m);
  if (!result.exact.empty()) {
    const DoubleMatrix& exact = result.exact.at(at);
    auto* data = const_cast<double*>(exact.row(0).data());
    return nb::cast(nb::ndarray<nb::numpy, double>(
        data, {static_cast<size_t>(exact.rows()), static_cast<size_t>(exact.columns())}, owner));
  }
  const Matrix& values = result.values.at(at);
  return nb::cast(nb::ndarray<nb::numpy, float>(
      const_cast<float*>(values.data()),
      {static_cast<size_t>(values.rows()), static_cast<size_t>(values.columns())}, owner));
}

nb::dict facts(Results& self, int k, int panel) {
  const Attribution& result = attribution_at(self, k, panel);
  nb::dict out;
  out["method"] = result.method;
  out["tokens"] = result.source.tokens;
  out["layers"] = nb::make_tuple(result.layers.begin, result.layers.end);
  out["rows"] = result.mean_row ? nb::cast(Words{"mean"}) : nb::cast(result.rows);
  out["by_layer"] = result.by_layer;
  out["columns"] = result.columns;
  out["notes"] = result.notes;
  out["label"] = result.label;
  out["source"] = result.source.name;
  out["matrices"] = result.values.size();
  out["options"] = nb::cast(result.options).attr("words")();
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

std::string json_of(const Results& self, const WriteOptions& options) {
  std::string text;
  const Sink sink = [&](std::string_view bytes) { text += bytes; };
  if (self.list.size() == 1 && !options.list) {
    write_json(document_of(self.list.front(), options), sink);
    return text;
  }
  std::vector<Document> documents;
  for (const Result& result : self.list) documents.push_back(document_of(result, options));
  write_json(documents, sink);
  return text;
}

// A result that was computed elsewhere (on a GPU), so that it can be written like any other.
void add(Results& self, const std::string& method, const Options& options, Given values,
         Words tokens, std::vector<int> rows, std::vector<int> by_layer, std::vector<int> heads,
         Words notes, const std::string& name, int item, int items, const std::string& label) {
  if (values.shape(0) == 0 || values.shape(2) != tokens.size())
    fail("{}: has {} columns, expected {}, one a token; give the tokens of the same input", name,
         values.shape(2), tokens.size());
  Attribution out;
  out.method = method;
  out.options = options;
  out.label = label;
  out.source.kind = "capture";
  out.source.name = name;
  out.source.layers = static_cast<int>(heads.size());
  out.source.heads = std::move(heads);
  out.source.item = item;
  out.source.items = items;
  out.source.padded = static_cast<int>(tokens.size());
  out.source.tokens = std::move(tokens);
  out.layers = resolve(options.layers, std::max(out.source.layers, 1), name);
  out.rows = std::move(rows);
  out.mean_row = options.row.kind == Row::Kind::mean;
  out.by_layer = std::move(by_layer);
  out.notes = std::move(notes);
  const size_t size = values.shape(1) * values.shape(2);
  for (size_t m = 0; m < values.shape(0); ++m) {
    Matrix matrix(static_cast<int>(values.shape(1)), static_cast<int>(values.shape(2)));
    std::transform(values.data() + m * size, values.data() + (m + 1) * size, matrix.data(),
                   [](double x) { return static_cast<float>(x); });
    out.values.push_back(std::move(matrix));
  }
  self.list.emplace_back(std::move(out));
}

nb::object agreement_of(nb::object owner, int k) {
  const Matrix& values = std::get<Comparison>(result_at(nb::cast<Results&>(owner), k)).agreement;
  const auto n = static_cast<size_t>(values.rows());
  return nb::cast(nb::ndarray<nb::numpy, float>(const_cast<float*>(values.data()), {n, n}, owner));
}

void join(Results& self, Results& other) {
  for (Result& result : other.list) self.list.push_back(std::move(result));
  other.list.clear();
}

}  // namespace

void bind_results(nb::module_& module) {
  nb::class_<Results>(module, "Results", "What a method gave for the items of a batch.")
      .def(nb::init<>())
      .def("__len__", [](const Results& self) { return self.list.size(); })
      .def("facts", &facts, "k"_a, "panel"_a = 0, "All of a result but its values.")
      .def(
          "panels",
          [](Results& self, int k) {
            const auto* comparison = std::get_if<Comparison>(&result_at(self, k));
            return comparison ? comparison->panels.size() : 0;
          },
          "k"_a, "How many panels result k has; 0 if it is no comparison.")
      .def("add", &add, "method"_a, "options"_a, "values"_a, "tokens"_a, "rows"_a, "by_layer"_a,
           "heads"_a, "notes"_a, "name"_a, "item"_a = 0, "items"_a = 1, "label"_a = "",
           "Adds a result that was computed elsewhere; values [matrices, rows, n] float64.")
      .def("join", &join, "other"_a, "Takes over the results of another, which is empty then.")
      .def(
          "json",
          [](const Results& self, const std::string& filter, bool renormalise, bool timing,
             bool list) {
            nb::gil_scoped_release release;
            return json_of(self, write_options(filter, renormalise, timing, list));
          },
          "filter"_a = "", "renormalise"_a = false, "timing"_a = false, "list"_a = false,
          "The results as JSON, the words of the command's.")
      .def(
          "save",
          [](const Results& self, const std::string& path, const std::string& filter,
             bool renormalise, bool timing, bool list) {
            nb::gil_scoped_release release;
            write(self.list, path, write_options(filter, renormalise, timing, list));
          },
          "path"_a, "filter"_a = "", "renormalise"_a = false, "timing"_a = false, "list"_a = false,
          "Writes .json .npy .npz .png .svg or .pdf.");
  module.def("matrix", &matrix, "results"_a, "k"_a, "panel"_a = 0, "m"_a = 0,
             "Matrix m of result k, without a copy: [rows, n] float32, of flow float64.");
  module.def("agreement", &agreement_of, "results"_a, "k"_a,
             "Of a comparison: Spearman's rank correlation between its panels, [P, P] float32.");
  module.def("labels", &token_labels, "tokens"_a, "longest"_a = 24,
             "Tokens as people read them on an axis.");
  module.def(
      "kept",
      [](const std::string& filter, const Words& tokens) {
        return kept(parse_filter(filter), tokens);
      },
      "filter"_a, "tokens"_a, "For each token whether a filter shows it.");
}

}  // namespace headwater::python
