#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "headwater/core/error.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/layer/resolve.h"
#include "headwater/method/average.h"
#include "headwater/method/compare.h"
#include "headwater/method/compare_input.h"
#include "headwater/method/flow/flow.h"
#include "headwater/method/gradient.h"
#include "headwater/method/info.h"
#include "headwater/method/layer_maps.h"
#include "headwater/method/metrics.h"
#include "headwater/method/relevance.h"
#include "headwater/method/rollout.h"
#include "python/binding/binding.h"

namespace headwater::python {
namespace {

using namespace nb::literals;
using Items = std::vector<int>;

// Filled with what is wrong with an item, by its number. The item then has no result.
using Failed = std::optional<nb::typed<nb::dict, int, nb::str>>;

// Items one by one, without the GIL; Ctrl-C stops between two of them.
template <class Method>
Results each_item(Inputs& inputs, const Items& items, Method method, const Failed& failed = {}) {
  Results results;
  Items chosen;
  for (const int item : items)
    chosen.push_back(resolve_index(item, inputs.batch->size(), "item", "batch"));
  nb::gil_scoped_release release;
  size_t at = 0;
  for (std::unique_ptr<Source>& one : inputs.batch->together(chosen)) {
    const std::unique_ptr<Source> source = std::move(one);
    const int item = items[at++];
    try {
      results.list.emplace_back(method(*source));
    } catch (const Error& error) {
      if (!failed || error.kind() == Error::Kind::usage) throw;
      nb::gil_scoped_acquire acquire;
      (*failed)[nb::int_(item)] = nb::str(error.what());
    }
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  return results;
}

// The result with the maps of its layers, if a page of it is to hold them.
Attribution with_maps(Attribution result, Source& source, bool embed_layers) {
  if (embed_layers) result.maps = maps_of(source, result);
  return result;
}

FlowOptions flow_options(const nb::object& progress) {
  FlowOptions options;
  options.progress = [progress](int64_t settled, int64_t pairs) {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(settled, pairs);
  };
  return options;
}

Comparison compare_by(const std::string& by, Source& source, const Options& options, int layer,
                      const std::vector<double>& values, const std::vector<int>& layers_shown) {
  constexpr std::array<std::string_view, 6> kinds = {"layer", "evolution", "discard",
                                                     "fuse",  "head",      "method"};
  if (!values.empty() && by != "discard")
    fail_usage("`values`: was given by '{}', expected by 'discard'; leave it out", by);
  if (!layers_shown.empty() && by != "evolution")
    fail_usage("`layers_shown`: was given by '{}', expected by 'evolution'; leave it out", by);
  if (by == "layer") return compare_layer(source, options, layer);
  if (by == "evolution") return compare_evolution(source, options, layers_shown);
  if (by == "discard" && !values.empty()) return compare_discard(source, options, values);
  if (by == "discard") return compare_discard(source, options);
  if (by == "head") return compare_head(source, options);
  if (by == "fuse") return compare_fuse(source, options);
  if (by == "method") return compare_method(source, options);
  fail_usage("unknown by '{}'{}", by, suggestion(by, kinds));
}

Results whole_batch_metrics(Inputs& inputs, const Options& options, int layer) {
  nb::gil_scoped_release release;
  Results results;
  results.list.emplace_back(metrics(*inputs.batch, options, layer));
  return results;
}

}  // namespace

void bind_methods(nb::module_& module) {
  module.def(
      "rollout",
      [](Inputs& inputs, const Items& items, const Options& options, bool by_layer,
         bool embed_layers, const Failed& failed) {
        const auto method = [&](Source& source) {
          return with_maps(by_layer ? rollout_by_layer(source, options) : rollout(source, options),
                           source, embed_layers);
        };
        return each_item(inputs, items, method, failed);
      },
      "inputs"_a, "items"_a, "options"_a, "by_layer"_a = false, "embed_layers"_a = false,
      "failed"_a = nb::none(),
      "Rollout of each item: [rows, n] float32, with by_layer [L, rows, n].");
  module.def(
      "average",
      [](Inputs& inputs, const Items& items, const Options& options, bool embed_layers,
         const Failed& failed) {
        const auto method = [&](Source& source) {
          return with_maps(average(source, options), source, embed_layers);
        };
        return each_item(inputs, items, method, failed);
      },
      "inputs"_a, "items"_a, "options"_a, "embed_layers"_a = false, "failed"_a = nb::none(),
      "Mean of the prepared layers: [rows, n] float32.");
  module.def(
      "raw",
      [](Inputs& inputs, const Items& items, int layer, const Options& options,
         const Failed& failed) {
        return each_item(
            inputs, items, [&](Source& source) { return raw(source, layer, options); }, failed);
      },
      "inputs"_a, "items"_a, "layer"_a, "options"_a, "failed"_a = nb::none(),
      "One layer, heads fused and nothing added: [rows, n] float32.");
  module.def(
      "flow",
      [](Inputs& inputs, const Items& items, const Options& options, std::optional<int> column,
         bool every_layer, bool normalise, bool certify, bool cut, nb::object progress,
         bool embed_layers, const Failed& failed) {
        FlowOptions how = flow_options(progress);
        how.column = column;
        how.every_layer = every_layer;
        how.normalise = normalise;
        how.certify = certify;
        how.cut = cut;
        const auto method = [&](Source& source) {
          return with_maps(flow(source, options, how), source, embed_layers);
        };
        return each_item(inputs, items, method, failed);
      },
      "inputs"_a, "items"_a, "options"_a, "column"_a = nb::none(), "every_layer"_a = false,
      "normalise"_a = false, "certify"_a = false, "cut"_a = false, "progress"_a = nb::none(),
      "embed_layers"_a = false, "failed"_a = nb::none(),
      "Maximum flow of each item: [rows, n] float64, exact multiples of 2^-30.");
  module.def(
      "gradient",
      [](Inputs& inputs, const Items& items, const Options& options, const std::string& rule,
         const std::string& target, const std::string& against, const Failed& failed) {
        const GradientOptions what{parse_gradient_rule(rule), target, against};
        return each_item(
            inputs, items, [&](Source& source) { return gradient(source, options, what); }, failed);
      },
      "inputs"_a, "items"_a, "options"_a, "rule"_a = "gradient", "target"_a = "best",
      "against"_a = "", "failed"_a = nb::none(),
      "Gradient x attention of a model directory: [rows, n] float32.");
  module.def(
      "relevance",
      [](Inputs& inputs, const Items& items, const std::string& rule, const std::string& target,
         const std::string& against, const std::string& row, bool by_layer, bool heads,
         std::optional<int> edges, std::optional<int> steps, const std::string& baseline,
         const Failed& failed) {
        RelevanceOptions what;
        what.rule = parse_relevance_rule(rule);
        what.target = target;
        what.against = against;
        if (!row.empty()) what.row = parse_row(row);
        what.by_layer = by_layer;
        what.heads = heads;
        what.edges = edges;
        what.steps = steps;
        what.baseline = baseline;
        return each_item(
            inputs, items, [&](Source& source) { return relevance(source, what); }, failed);
      },
      "inputs"_a, "items"_a, "rule"_a = "frozen", "target"_a = "best", "against"_a = "",
      "row"_a = "", "by_layer"_a = false, "heads"_a = false, "edges"_a = nb::none(),
      "steps"_a = nb::none(), "baseline"_a = "", "failed"_a = nb::none(),
      "Signed relevance of each token of a model directory's input: [1, n] float32.");
  module.def("metrics", &whole_batch_metrics, "inputs"_a, "options"_a, "layer"_a = -1,
             "Eight numbers over the real rows of all items.");
  module.def(
      "compare",
      [](Inputs& inputs, const Items& items, const std::string& by, const Options& options,
         int layer, const std::vector<double>& values, const std::vector<int>& layers_shown) {
        return each_item(inputs, items, [&](Source& source) {
          return compare_by(by, source, options, layer, values, layers_shown);
        });
      },
      "inputs"_a, "items"_a, "by"_a, "options"_a, "layer"_a = -1,
      "values"_a = std::vector<double>(), "layers_shown"_a = std::vector<int>(),
      "Results side by side: by layer, evolution, discard, fuse, head or method.");
  module.def(
      "compare_inputs",
      [](Inputs& inputs, const Items& items, const Options& options) {
        Results each =
            each_item(inputs, items, [&](Source& source) { return rollout(source, options); });
        std::vector<Attribution> results;
        for (Result& one : each.list) results.push_back(std::get<Attribution>(std::move(one)));
        Results out;
        out.list.emplace_back(compare_input(std::move(results)));
        return out;
      },
      "inputs"_a, "items"_a, "options"_a, "Rollout of several inputs, position by position.");
  module.def(
      "compare_models",
      [](Inputs& first, Inputs& second, const Options& options) {
        return each_item(first, {0}, [&](Source& source) {
          const std::unique_ptr<Source> other = second.batch->item(0);
          return compare_model(source, *other, options);
        });
      },
      "first"_a, "second"_a, "options"_a, "Rollout of two models on one input.");
  module.def(
      "info",
      [](Inputs& inputs, int item) {
        if (inputs.batch->size() > 0 || item != 0)
          return each_item(inputs, {item},
                           [&](Source& source) { return info(*inputs.batch, source); });
        Results results;
        results.list.emplace_back(info(*inputs.batch));
        return results;
      },
      "inputs"_a, "item"_a = 0,
      "What is known about an item; reads its lowest layer. Without an item, what is known about "
      "the model.");
}

}  // namespace headwater::python
