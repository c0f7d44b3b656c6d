#include "headwater/source/info.h"

#include "cli/commands.h"
#include "cli/deliver.h"

namespace headwater::cli {

void run_info(const Arguments& arguments) {
  Arguments any = arguments;
  if (!any.item && !any.all_items) any.item = 0;
  run_items(any, [](Batch& batch, Source& source) -> Result { return info(batch, source); });
}

}  // namespace headwater::cli
