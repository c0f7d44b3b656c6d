// The only file that includes CLI11, which takes longer to compile than the rest of cli/.
#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/core/version.h"

namespace headwater::cli {
namespace {

constexpr const char* about = "headwater traces a transformer's output back to its input tokens.";
constexpr const char* examples =
    "Examples:\n"
    "  headwater demo                                 pictures and a tour, in demo/\n"
    "  headwater rollout verb-number --text \"The keys to the cabinet\" --row cls\n"
    "  headwater evaluate verb-number                 how far to trust each method\n"
    "  headwater rollout my-bert/ --text \"The cat sat.\" -o all.svg -o all.npz\n"
    "  headwater info bert.npz                        what is in a file of attention\n"
    "  headwater compare bert.npz --by discard -o sweep.png\n"
    "'headwater COMMAND --help' shows the options of a command.";

[[noreturn]] void unknown(const char* what, const std::string& word,
                          const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view best = nearest(word, views);
  if (!best.empty()) fail_usage("unknown {} '{}'; did you mean '{}'?", what, word, best);
  fail_usage("unknown {} '{}'; see --help", what, word);
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
    added.expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
  else if (!is_positional(option))
    added.take_last();
  return added;
}

// The words as a shell reads them back.
std::string quoted(int count, const char* const* words) {
  std::string line = "headwater";
  for (int k = 1; k < count; ++k) {
    const std::string_view word = words[k];
    const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
    });
    if (plain) {
      line.append(" ").append(word);
      continue;
    }
    line += " '";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
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
    app->footer(std::string("Example:\n  ") + command->example);
    command->declare(options);
    for (const Option& option : options.all()) typed.push_back(&add(*app, option));
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names = {"--help"};
    for (const Option& option : options.all())
      if (!is_positional(option) && !option.group.empty()) names.push_back(long_name(option));
    return names;
  }

  // Hands what was typed to the options. Called once every word is known to be understood.
  void take() const {
    for (size_t k = 0; k < typed.size(); ++k) {
      const Option& option = options.all()[k];
      const std::vector<std::string> texts =
          typed[k]->count() ? typed[k]->reduced_results() : std::vector<std::string>();
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
      entry.declare(quoted(count, words));
  }
  return entries;
}

}  // namespace

Request parse(int count, const char* const* words) {
  CLI::App app(about, "headwater");
  app.allow_extras();
  app.require_subcommand(0, 1);  // only the first word: a source may have the name of a command
  app.set_help_flag("-h,--help", "Show this help");
  const CLI::Option* wants_version =
      &add(app, {"--version", "", "Show the version", "Options", {}});
  app.footer(examples);
  std::vector<Entry> entries = add_commands(app, count, words);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    return {nullptr, app.help()};
  } catch (const CLI::ParseError& error) {
    fail_to_understand(error);
  }
  if (wants_version->count()) return {nullptr, std::string("headwater ") + version() + "\n"};

  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> left = app.remaining(true);
  const bool option_left = !left.empty() && left[0].starts_with("-") && left[0].size() > 1;
  if (chosen.empty()) {
    if (left.empty()) return {nullptr, app.help()};
    if (option_left) unknown("option", left[0], {"--help", "--version"});
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.command->name);
    unknown("command", left[0], names);
  }
  Entry& entry = *std::ranges::find(entries, chosen[0], &Entry::app);
  if (entry.command->takes_any_words()) return {std::move(entry.command), ""};
  if (option_left) unknown("option", left[0], entry.option_names());
  if (!left.empty())
    fail_usage("'{}' was not expected after '{}'; quote names that have spaces", left[0],
               entry.command->name);
  entry.take();
  return {std::move(entry.command), ""};
}

}  // namespace headwater::cli
