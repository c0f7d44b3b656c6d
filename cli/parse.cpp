// The only file that includes CLI11, which takes longer to compile than the rest of cli/.
#include "cli/parse.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/deliver.h"
#include "cli/help.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/quoted.h"
#include "headwater/core/version.h"
#include "headwater/model/find_model.h"

namespace headwater::cli {
namespace {

[[noreturn]] void unknown(const char* what, const std::string& word,
                          const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view best = nearest(word, views);
  if (!best.empty()) fail_usage("unknown {} '{}'; did you mean '{}'?", what, word, best);
  if (known.front().starts_with("-")) fail_usage("unknown {} '{}'; see --help", what, word);
  fail_usage("unknown {} '{}', expected one of {}", what, word, fmt::join(known, ", "));
}

// CLI11 has the words; the texts about them are ours.
[[noreturn]] void fail_to_understand(const CLI::ParseError& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr)
    fail_usage("{}; see --help", what.substr(0, what.find('\n')));
  const size_t flag = what.find(" was given a disallowed flag override");
  if (flag != std::string::npos)
    fail_usage("--{}: was given a value, expected none; see --help", what.substr(0, flag));
  fail_usage("{}: no value was given, expected one; see --help", what.substr(0, what.find(':')));
}

CLI::Option& add(CLI::App& app, const Option& option) {
  if (option.value.empty())
    return *app.add_flag(option.names, option.about)->disable_flag_override()->group(option.group);
  CLI::Option& added = *app.add_option(option.names, CLI::callback_t(), option.about);
  added.type_name(option.value)->group(option.group);
  if (option.several)
    added.expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(is_positional(option));
  else if (!is_positional(option))
    added.multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return added;
}

// The whole line, as a shell reads it back.
std::string line_of(int count, const char* const* words) {
  std::string line = "headwater";
  for (int k = 1; k < count; ++k) line.append(" ").append(quoted(words[k]));
  return line;
}

// A command, with its options as it declares them and as CLI11 has them, in the same order.
struct Entry {
  std::unique_ptr<Command> command;
  CLI::App* app = nullptr;
  OptionList options;
  std::vector<CLI::Option*> typed;

  void declare(std::string line) {
    options.line = std::move(line);
    command->declare(options);
    for (const Option& option : options.all()) typed.push_back(&add(*app, option));
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const Option& option : options.all())
      if (!is_positional(option) && !option.group.empty()) names.push_back(long_name(option));
    return names;
  }

  // Hands what was typed to the options. Called once every word is known to be understood.
  void take() const {
    for (size_t k = 0; k < typed.size(); ++k) {
      const Option& option = options.all()[k];
      const std::vector<std::string> texts =
          typed[k]->count() ? typed[k]->results() : std::vector<std::string>();
      if (texts.size() > 1 && !option.several && !option.value.empty())
        fail_usage("{}: was given {} times, expected once; leave out all but one",
                   long_name(option), texts.size());
      if (!option.required.empty() && (texts.empty() || texts.back().empty()))
        fail_usage("{}: no {} was given, expected {}; for example {}", command->name, option.names,
                   option.required, command->example);
      if (option.value.empty() && !texts.empty()) option.take("");
      if (!option.value.empty())
        for (const std::string& text : texts) option.take(text);
    }
  }
};

std::vector<Entry> add_commands(CLI::App& app, int count, const char* const* words) {
  std::vector<Entry> entries;
  for (std::unique_ptr<Command>& command : all_commands()) {
    Entry& entry = entries.emplace_back();
    entry.app = app.add_subcommand(command->name, command->about);
    entry.app->allow_extras();
    entry.app->set_help_flag("-h,--help", "Show this help");
    entry.command = std::move(command);
    // Only what may be needed: the options of all commands would cost every run a millisecond.
    if (std::find(words, words + count, std::string_view(entry.command->name)) != words + count)
      entry.declare(line_of(count, words));
  }
  return entries;
}

// "--text=" as two words, because CLI11 takes the next word for its value.
std::vector<std::string> split_empty_values(int count, const char* const* words) {
  std::vector<std::string> out;
  for (int k = 0; k < count; ++k) {
    const std::string_view word = words[k];
    const bool empty = k > 0 && word.starts_with("--") && word.size() > 3 && word.ends_with('=') &&
                       word.find('=') == word.size() - 1;
    out.emplace_back(empty ? word.substr(0, word.size() - 1) : word);
    if (empty) out.emplace_back();
  }
  return out;
}

// headwater help, headwater help COMMAND.
Request help_on(int count, const char* const* words) {
  const std::vector<std::unique_ptr<Command>> commands = all_commands();
  if (count == 2) return {nullptr, help_of_all(commands, width_of_terminal())};
  if (count > 3)
    fail_usage("'{}' was not expected after 'help {}'; give one command", words[3], words[2]);
  std::vector<std::string> names;
  for (const std::unique_ptr<Command>& command : commands) {
    names.push_back(command->name);
    if (names.back() != words[2]) continue;
    OptionList options;
    command->declare(options);
    return {nullptr, help_of(*command, options, width_of_terminal())};
  }
  unknown("command", words[2], names);
}

}  // namespace

Request parse(int count, const char* const* typed) {
  const std::vector<std::string> split = split_empty_values(count, typed);
  std::vector<const char*> pointers;
  for (const std::string& word : split) pointers.push_back(word.c_str());
  count = static_cast<int>(pointers.size());
  const char* const* words = pointers.data();
  if (count > 1 && std::string_view(words[1]) == "help") return help_on(count, words);
  CLI::App app("", "headwater");
  app.allow_extras();
  app.require_subcommand(0, 1);  // only the first word: a source may have the name of a command
  app.set_help_flag("-h,--help", "Show this help");
  const CLI::Option* wants_version =
      &add(app, {"--version", "", "Show the version", "Options", {}});
  std::vector<Entry> entries = add_commands(app, count, words);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> asked = app.get_subcommands();
    if (asked.empty()) return {nullptr, help_of_all(all_commands(), width_of_terminal())};
    const Entry& entry = *std::ranges::find(entries, asked[0], &Entry::app);
    return {nullptr, help_of(*entry.command, entry.options, width_of_terminal())};
  } catch (const CLI::ParseError& error) {
    fail_to_understand(error);
  }
  if (wants_version->count()) return {nullptr, std::string("headwater ") + version() + "\n"};

  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> left = app.remaining(true);
  const bool option_left = !left.empty() && left[0].starts_with("-") && left[0].size() > 1;
  if (chosen.empty()) {
    if (left.empty()) return {nullptr, help_of_all(all_commands(), width_of_terminal())};
    if (option_left) unknown("option", left[0], {"--help", "--version"});
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.command->name);
    names.push_back("help");
    if (find_model(left[0]) || std::filesystem::exists(left[0]))
      fail_usage("'{}' is a source, expected a command before it; for example headwater rollout {}",
                 left[0], left[0]);
    unknown("command", left[0], names);
  }
  Entry& entry = *std::ranges::find(entries, chosen[0], &Entry::app);
  if (entry.command->takes_any_words()) return {std::move(entry.command), ""};
  if (option_left) {
    const std::vector<std::string> names = entry.option_names();
    if (std::ranges::find(names, left[0]) != names.end())
      fail_usage("{}: stands before '{}', expected options after the command; move it there",
                 left[0], entry.command->name);
    unknown("option", left[0], names);
  }
  if (!left.empty()) {
    const std::vector<std::string> names = entry.option_names();
    // The option that a command declares first is its usual input.
    const auto input = std::ranges::find_if(
        names, [](const std::string& name) { return name == "--text" || name == "--prompt"; });
    if (left[0].find(' ') != std::string::npos && input != names.end())
      fail_usage("'{}' was not expected after '{}'; give a text with {}", left[0],
                 entry.command->name, *input);
    if (std::ranges::none_of(entry.options.all(), is_positional))
      fail_usage("'{}' was not expected after '{}', which takes no source; leave it out", left[0],
                 entry.command->name);
    fail_usage(
        "'{}' was not expected for '{}'; give one source after it, and quote names that have "
        "spaces",
        left[0], entry.command->name);
  }
  entry.take();
  return {std::move(entry.command), ""};
}

}  // namespace headwater::cli
