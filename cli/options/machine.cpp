#include "cli/options/machine.h"

#include "cli/numbers.h"
#include "headwater/core/fail.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/kernel.h"

namespace headwater::cli {

void MachineOptions::declare(OptionList& options) {
  options.group("Machine");
  options.add("--threads", "N", "How many threads to use (default: one per core)",
              [this](const std::string& text) {
                const int count = parse_integer("--threads", text);
                if (count < 1 || count > 1024)
                  fail_usage("--threads {}: expected 1 to 1024; leave it out for one per core",
                             count);
                threads = count;
              });
  options.text("--kernel", "NAME",
               "Force an instruction set; 'headwater info' names the one in use", kernel);
}

void MachineOptions::apply() const {
  if (!kernel.empty()) headwater::kernel::use(kernel);
  if (threads) set_threads(*threads);
}

}  // namespace headwater::cli
