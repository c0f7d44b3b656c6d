// Options that say what the work runs on.
#pragma once
#include <optional>
#include <string>

#include "cli/option_list.h"

namespace headwater::cli {

struct MachineOptions {
  std::optional<int> threads;
  std::string kernel;  // "": the best that this machine has

  void declare(OptionList& options);
  /// Sets both for the whole process, before any work. Throws Error (usage) for a kernel that this
  /// machine does not have.
  void apply() const;
};

}  // namespace headwater::cli
