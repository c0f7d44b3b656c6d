#include "headwater/layer/options.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "headwater/layer/resolve.h"
#include "headwater/result/find_rows.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Word = std::optional<std::string>;
using Number = std::optional<double>;
using RowWords = std::variant<std::string, std::vector<std::string>>;
using Rows = std::optional<RowWords>;

Row row_of(const RowWords& words) {
  if (const auto* word = std::get_if<std::string>(&words)) return parse_row(*word);
  std::vector<Row> each;
  for (const std::string& word : std::get<std::vector<std::string>>(words))
    each.push_back(parse_row(word));
  return Row::list(std::move(each));
}

Options make_options(const std::string& preset, const Word& fuse, Number residual, Number discard,
                     const Word& order, const Word& empty, const Word& divide, const Word& layers,
                     const Rows& row) {
  Options options = options_of(parse_preset(preset));
  if (fuse) options.fuse = parse_fuse(*fuse);
  if (residual) options.residual = *residual;
  if (discard) options.discard = *discard;
  if (order) options.order = parse_order(*order);
  if (empty) options.empty = parse_empty(*empty);
  if (divide) options.divide = parse_divide(*divide);
  if (layers) options.layers = parse_slice(*layers);
  if (row) options.row = row_of(*row);
  check(options);
  return options;
}

Dictionary words_of(const Options& options) {
  Dictionary out;
  out["preset"] = to_string(options.preset);
  out["fuse"] = to_string(options.fuse);
  out["residual"] = options.residual;
  out["discard"] = options.discard;
  out["order"] = to_string(options.order);
  out["empty"] = to_string(options.empty);
  out["divide"] = to_string(options.divide);
  return out;
}

std::pair<int, int> layer_range(const Options& options, int count, const std::string& source) {
  const Range range = resolve(options.layers, count, source);
  return {range.begin, range.end};
}

std::variant<std::vector<int>, std::string> row_list(const Options& options,
                                                     const std::vector<std::string>& tokens,
                                                     const std::string& source) {
  if (options.row.kind == Row::Kind::mean) return "mean";
  return find_rows(options.row, tokens, source);
}

}  // namespace

void bind_options(nb::module_& module) {
  nb::class_<Options>(module, "Options", "The options of every method, by the words of a preset.")
      .def(
          "__init__",
          [](Options* self, const std::string& preset, const Word& fuse, Number residual,
             Number discard, const Word& order, const Word& empty, const Word& divide,
             const Word& layers, const Rows& row) {
            new (self) Options(
                make_options(preset, fuse, residual, discard, order, empty, divide, layers, row));
          },
          nb::kw_only(), "preset"_a = "paper", "fuse"_a = nb::none(), "residual"_a = nb::none(),
          "discard"_a = nb::none(), "order"_a = nb::none(), "empty"_a = nb::none(),
          "divide"_a = nb::none(), "layers"_a = nb::none(), "row"_a = nb::none())
      .def("words", &words_of, "All options except layers and row, as results record them.")
      .def("range", &layer_range, "count"_a, "source"_a,
           "The layers chosen out of `count`: first, and one past the last.")
      .def("rows", &row_list, "tokens"_a, "source"_a,
           "The numbers of the rows chosen, or the word 'mean'.");
}

}  // namespace headwater::python
