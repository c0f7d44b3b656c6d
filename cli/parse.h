// From the words of the command line to a command that can run.
#pragma once
#include <memory>
#include <string>

#include "cli/command.h"

namespace headwater::cli {

/// What to do: run a command, or print a text that was asked for (help or version).
struct Request {
  std::unique_ptr<Command> command;  // null if there is only a text
  std::string text;
};

/// Understands what was typed and stores it in the command. Reads no file and changes
/// nothing in the process. Throws Error (usage), with the nearest known word, for what it does not
/// understand.
Request parse(int count, const char* const* words);

}  // namespace headwater::cli
