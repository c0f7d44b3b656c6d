#include "headwater/method/metrics.h"

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"

namespace headwater::cli {

void run_metrics(const Arguments& arguments) {
  if (arguments.item || arguments.all_items) {
    run_items(arguments, [&](Batch&, Source& source) -> Result {
      return metrics(source, arguments.options, arguments.layer);
    });
    return;
  }
  // The metrics of a batch are those of all its items together.
  check_outputs(arguments);
  const std::unique_ptr<Batch> batch = open_source(arguments.source, arguments);
  std::vector<Result> results;
  results.emplace_back(metrics(*batch, arguments.options, arguments.layer));
  deliver(results, arguments);
}

}  // namespace headwater::cli
