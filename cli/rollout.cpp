#include "headwater/method/rollout.h"

#include "cli/commands.h"
#include "cli/deliver.h"

namespace headwater::cli {

void run_rollout(const Arguments& arguments) {
  run_items(arguments, [&](Batch&, Source& source) -> Result {
    return arguments.by_layer ? rollout_by_layer(source, arguments.options)
                              : rollout(source, arguments.options);
  });
}

}  // namespace headwater::cli
