#include "headwater/method/compare.h"

#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::cli {
namespace {

constexpr std::array<std::string_view, 6> kinds = {"layer", "evolution", "discard",
                                                   "fuse",  "method",    "model"};

Comparison compare(Source& source, const Arguments& arguments) {
  if (arguments.by == "layer") return compare_layer(source, arguments.options, arguments.layer);
  if (arguments.by == "evolution") return compare_evolution(source, arguments.options);
  if (arguments.by == "discard") return compare_discard(source, arguments.options);
  if (arguments.by == "fuse") return compare_fuse(source, arguments.options);
  ProgressBar bar("pair");
  FlowOptions options;
  options.progress = [&](int64_t settled, int64_t pairs) { bar.show(settled, pairs); };
  return compare_method(source, arguments.options, options);
}

// Item by item of both.
void run_models(const Arguments& arguments) {
  const std::unique_ptr<Batch> others = open_source(arguments.other, arguments);
  run_items(arguments, [&](Batch& batch, Source& source) -> Result {
    if (others->size() != batch.size())
      fail("{}: has {} items, expected {} as {} has; give both the same input", arguments.other,
           others->size(), batch.size(), arguments.source);
    ProgressSource other(others->item(source.description().item));
    return compare_model(source, other, arguments.options);
  });
}

}  // namespace

void run_compare(const Arguments& arguments) {
  if (arguments.by.empty())
    fail_usage(
        "compare: no --by was given, expected layer, evolution, discard, fuse, method or model; "
        "for "
        "example --by discard");
  if (std::ranges::find(kinds, arguments.by) == kinds.end())
    fail_usage("unknown --by '{}'{}", arguments.by, suggestion(arguments.by, kinds));
  if ((arguments.by == "model") != !arguments.other.empty())
    fail_usage("compare: {}", arguments.by == "model"
                                  ? "--by model was given one source, expected two; for example "
                                    "headwater compare bert/ roberta/ --by model --text \"...\""
                                  : "was given two sources, expected one; --by model takes two");
  if (arguments.by == "model") {
    run_models(arguments);
    return;
  }
  run_items(arguments,
            [&](Batch&, Source& source) -> Result { return compare(source, arguments); });
}

}  // namespace headwater::cli
