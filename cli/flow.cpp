#include "headwater/method/flow/flow.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/progress.h"

namespace headwater::cli {
void run_flow(const Arguments& arguments) {
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
