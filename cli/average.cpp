#include "headwater/method/average.h"

#include "cli/commands.h"
#include "cli/deliver.h"

namespace headwater::cli {

void run_average(const Arguments& arguments) {
  run_items(arguments,
            [&](Batch&, Source& source) -> Result { return average(source, arguments.options); });
}

void run_raw(const Arguments& arguments) {
  run_items(arguments, [&](Batch&, Source& source) -> Result {
    return raw(source, arguments.layer, arguments.options);
  });
}

}  // namespace headwater::cli
