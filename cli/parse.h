// From the words of the command line to a command and its arguments.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace headwater::cli {

/// What to do: run a command, or print a text that was asked for (help, version, completion) and
/// stop.
struct Request {
  std::function<void(const Arguments&)> run;  // empty if there is only a text
  Arguments arguments;
  std::string text;
};

/// Throws Error (usage) with the nearest known word for everything that cannot be understood.
Request parse(int count, const char* const* words);

/// A command as completion scripts need it.
struct CommandWords {
  std::string name, help;
  std::vector<std::string> options;
};

/// The script that makes `shell` (bash, zsh, fish) complete commands, options and their words.
/// Throws Error (usage) for another shell.
std::string completion(std::string_view shell, const std::vector<CommandWords>& commands);

}  // namespace headwater::cli
