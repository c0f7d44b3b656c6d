#include "cli/help.h"

#include <algorithm>

namespace headwater::cli {
namespace {

constexpr size_t names_width = 28;  // the column of names on the left

constexpr const char* about = "headwater traces a transformer's output back to its input tokens.";
constexpr const char* examples =
    "Examples:\n"
    "  headwater demo                                 pictures and a tour, in demo/\n"
    "  headwater rollout verb-number --text \"The keys to the cabinet\" --row cls\n"
    "  headwater evaluate verb-number                 how far to trust each method\n"
    "  headwater rollout my-bert/ --text \"The cat sat.\" -o all.svg -o all.npz\n"
    "  headwater info bert.npz                        what is in a file of attention\n"
    "  headwater compare bert.npz --by discard -o sweep.png\n"
    "'headwater help COMMAND' shows the options of a command.\n";

// The text in lines of at most `width`, all but the first indented by `indent` spaces.
std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (column > 0 && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out.append(text, begin, length);
    column += length;
    begin = end + 1;
  }
  return out;
}

std::string entry(const std::string& names, const std::string& text, int width) {
  const size_t room = std::max<size_t>(static_cast<size_t>(width), names_width + 24) - names_width;
  std::string line = "  " + names;
  if (line.size() + 2 > names_width)
    line += "\n" + std::string(names_width, ' ');
  else
    line.resize(names_width, ' ');
  return line + wrapped(text, room, names_width) + "\n";
}

std::string names_of(const Option& option) {
  if (is_positional(option)) return option.names;
  return option.value.empty() ? option.names : option.names + " " + option.value;
}

}  // namespace

std::string help_of_all(const std::vector<std::unique_ptr<Command>>& commands, int width) {
  std::string out = std::string(about) + "\nUsage: headwater COMMAND [OPTIONS]\n\nCommands:\n";
  for (const std::unique_ptr<Command>& command : commands)
    out += entry(command->name, command->about, width);
  out += entry("help", "The options of a command: headwater help rollout", width);
  return out + "\nOptions:\n" + entry("-h,--help", "Show this help", width) +
         entry("--version", "Show the version", width) + "\n" + examples;
}

std::string help_of(const Command& command, const OptionList& options, int width) {
  std::string out =
      wrapped(command.about, static_cast<size_t>(width), 0) + "\nUsage: headwater " + command.name;
  std::vector<std::string> groups;
  for (const Option& option : options.all()) {
    if (is_positional(option))
      out += option.required.empty() ? " [" + option.names + "]" : " " + option.names;
    if (!option.group.empty() && std::ranges::find(groups, option.group) == groups.end())
      groups.push_back(option.group);
  }
  out += " [OPTIONS]\n";
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const Option& option : options.all())
      if (option.group == group) out += entry(names_of(option), option.about, width);
  }
  return out + "\nHelp:\n" + entry("-h,--help", "Show this help", width) + "\nExample:\n  " +
         command.example + "\n";
}

}  // namespace headwater::cli
