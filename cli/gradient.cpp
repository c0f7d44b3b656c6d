#include "headwater/method/gradient.h"

#include "cli/commands.h"
#include "cli/deliver.h"

namespace headwater::cli {

void run_gradient(const Arguments& arguments) {
  run_items(arguments, [&](Batch&, Source& source) -> Result {
    return gradient(source, arguments.options, arguments.gradient);
  });
}

}  // namespace headwater::cli
