#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headwater/evaluate_model.h"
#include "headwater/output/terminal/terminal.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Words = std::vector<std::string>;

Results evaluate_model(const std::string& model, ModelEvaluation what, const nb::object& progress) {
  what.progress = [&](int64_t done, int64_t examples) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(done, examples);
  };
  nb::gil_scoped_release release;
  Results results;
  results.list.emplace_back(evaluate(model, what));
  return results;
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  module.def(
      "evaluate",
      [](const std::string& model, const Options& options, const std::string& examples,
         const std::string& against, const Words& methods, const std::string& filter,
         std::optional<int> limit, bool faithfulness, bool ignore_code, nb::object progress) {
        ModelEvaluation what;
        what.examples = examples;
        if (!against.empty()) what.against = parse_against(against);
        what.methods = methods;
        if (!filter.empty()) what.filter = parse_filter(filter);
        what.limit = limit;
        what.faithfulness = faithfulness;
        what.ignore_code = ignore_code;
        what.options = options;
        return evaluate_model(model, std::move(what), progress);
      },
      "model"_a, "options"_a, "examples"_a = "", "against"_a = "", "methods"_a = Words(),
      "filter"_a = "", "limit"_a = nb::none(), "faithfulness"_a = false, "ignore_code"_a = false,
      "progress"_a = nb::none(), "How well methods agree with what a model's output depends on.");
  module.def(
      "evaluation_text",
      [](const Results& results) { return terminal(std::get<Evaluation>(results.list.at(0))); },
      "results"_a, "The tables of an evaluation, as the command prints them.");
}

}  // namespace headwater::python
