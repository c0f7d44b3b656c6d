#include "headwater/source/info.h"

#include "cli/commands.h"
#include "cli/deliver.h"
#include "cli/open.h"

namespace headwater::cli {

void run_info(const Arguments& arguments) {
  const std::optional<std::string> folder = model_folder(arguments.source);
  if (folder && !has_input(arguments)) {
    check_outputs(arguments);
    std::vector<Result> results;
    results.emplace_back(model_info(*folder));
    deliver(results, arguments);
    return;
  }
  Arguments any = arguments;
  if (!any.item && !any.all_items) any.item = 0;
  run_items(any, [](Batch& batch, Source& source) -> Result { return info(batch, source); });
}

}  // namespace headwater::cli
