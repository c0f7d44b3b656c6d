#include "cli/options/target.h"

namespace headwater::cli {

void declare_target(OptionList& options, std::string& target, std::string& against) {
  options.group("Target");
  options.text("--target", "T",
               "The logit: a class by name or number, a word, token:WORD or an id, start:K or "
               "end:K, or best, the largest (default)",
               target);
  options.text("--against", "T",
               "A second logit, which is subtracted from the target; best is the runner-up",
               against);
}

}  // namespace headwater::cli
