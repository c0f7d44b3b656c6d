// The texts of --help, wrapped for a terminal.
#pragma once
#include <string>
#include <vector>

#include "cli/command.h"

namespace headwater::cli {

/// What headwater is, its commands and some examples.
std::string help_of_all(const std::vector<std::unique_ptr<Command>>& commands, int width);

/// What a command does, its options and an example. `options` is what it declared.
std::string help_of(const Command& command, const OptionList& options, int width);

}  // namespace headwater::cli
