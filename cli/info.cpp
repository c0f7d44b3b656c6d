#include "headwater/method/info.h"

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"

namespace headwater::cli {

void run_info(const Arguments& arguments) {
  check_outputs(arguments);
  const std::unique_ptr<Batch> batch = open_source(arguments.source, arguments);
  if (batch->size() == 0) {  // a model without a text
    std::vector<Result> results;
    results.emplace_back(info(*batch));
    deliver(results, arguments);
    return;
  }
  Arguments any = arguments;
  if (!any.item && !any.all_items) any.item = 0;
  run_items(*batch, any,
            [](Batch& items, Source& source) -> Result { return info(items, source); });
}

}  // namespace headwater::cli
