#include "headwater/method/flow.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/progress.h"
#include "headwater/core/fail.h"

namespace headwater::cli {
namespace {

// A picture or a shaded row needs all input tokens.
void check_one_column(const Arguments& arguments) {
  if (arguments.filter.any())
    fail_usage("--filter leaves out input tokens, expected all of them; leave out --column");
  for (const std::string& path : arguments.outputs)
    for (const char* ending : {".png", ".svg", ".pdf"})
      if (path.ends_with(ending))
        fail_usage("{}: a picture shows all input tokens; leave out --column, or use .json", path);
}

}  // namespace

void run_flow(const Arguments& arguments) {
  if (arguments.column) check_one_column(arguments);
  run_items(arguments, [&](Batch&, Source& source) -> Result {
    ProgressBar bar("pair");
    FlowOptions options;
    options.column = arguments.column;
    options.every_layer = arguments.every_layer;
    options.normalise = arguments.normalise;
    options.certify = arguments.certify;
    options.progress = [&](int64_t settled, int64_t pairs) { bar.show(settled, pairs); };
    return flow(source, arguments.options, options);
  });
}

}  // namespace headwater::cli
