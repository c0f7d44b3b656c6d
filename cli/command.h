// One command: its words, its options and what it does. Each has a file of its own.
#pragma once
#include <memory>
#include <vector>

#include "cli/option_list.h"

namespace headwater::cli {

class Command {
 public:
  /// `example` is a whole line that a person could type.
  Command(const char* name, const char* about, const char* example)
      : name(name), about(about), example(example) {}
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Adds the options. Their values go to members of the command, so it must outlive the list.
  virtual void declare(OptionList& options) = 0;
  /// Does the work with the values that the options took. Throws Error: usage for options that do
  /// not go together, work for everything else.
  virtual void run() = 0;
  /// True if unknown words are no error: run() has a message of its own for them.
  virtual bool takes_any_words() const { return false; }

  const char* const name;
  const char* const about;
  const char* const example;
};

/// Every command, in the order of the help.
std::vector<std::unique_ptr<Command>> all_commands();

}  // namespace headwater::cli
