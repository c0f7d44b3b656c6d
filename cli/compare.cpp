#include "headwater/method/compare.h"

#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::cli {
namespace {

constexpr std::array<std::string_view, 5> kinds = {"layer", "evolution", "discard", "fuse",
                                                   "method"};

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

}  // namespace

void run_compare(const Arguments& arguments) {
  if (arguments.by.empty())
    fail_usage(
        "compare: no --by was given, expected layer, evolution, discard, fuse or method; for "
        "example --by discard");
  if (std::ranges::find(kinds, arguments.by) == kinds.end())
    fail_usage("unknown --by '{}'{}", arguments.by, suggestion(arguments.by, kinds));
  run_items(arguments,
            [&](Batch&, Source& source) -> Result { return compare(source, arguments); });
}

}  // namespace headwater::cli
