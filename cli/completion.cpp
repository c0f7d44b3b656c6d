#include <fmt/format.h>

#include <map>

#include "cli/command.h"
#include "cli/deliver.h"

namespace headwater::cli {
namespace {

// A command as the scripts need it.
struct Words {
  std::string name, about;
  std::vector<std::string> options;           // --names
  std::map<std::string, std::string> values;  // of an option: the words it takes
  std::string values_of_positional;
  bool names_models = false;
};

std::vector<Words> words_of_all() {
  std::vector<Words> all;
  for (const std::unique_ptr<Command>& command : all_commands()) {
    OptionList options;
    command->declare(options);
    Words words{command->name, command->about, {"--help"}, {}, "", false};
    for (const Option& option : options.all()) {
      if (option.group.empty()) continue;
      const std::string values = fmt::format("{}", fmt::join(option.words, " "));
      words.names_models = words.names_models || option.names_models;
      if (is_positional(option)) {
        if (!values.empty()) words.values_of_positional = values;
        continue;
      }
      words.options.push_back(long_name(option));
      if (!values.empty()) words.values[long_name(option)] = values;
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::string bash(const std::vector<Words>& commands) {
  std::string names, values, options, with_models;
  for (const Words& command : commands) {
    names += command.name + ' ';
    if (command.names_models) with_models += (with_models.empty() ? "" : "|") + command.name + ":*";
    options +=
        fmt::format("    {}) options='{}' ;;\n", command.name, fmt::join(command.options, " "));
    // The word before decides; the same option may take other words in another command.
    const auto add = [&](const std::string& before, const std::string& words) {
      values +=
          fmt::format("    '{} {}') COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                      command.name, before, words);
    };
    for (const auto& [option, words] : command.values)
      add(option, option == "--row" ? words + " $(_headwater_words)" : words);
    if (!command.values_of_positional.empty()) add(command.name, command.values_of_positional);
  }
  return fmt::format(R"bash(# bash completion for headwater
# The words of the text on the line, for --row.
_headwater_words() {{
  local k
  for ((k = 1; k < COMP_CWORD; ++k)); do
    case "${{COMP_WORDS[k]}}" in
      --text|--prompt) printf '%s' "${{COMP_WORDS[k+1]}}" | tr -cs '[:alnum:]' ' ' ;;
    esac
  done
}}
_headwater() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0}help --help --version' -- "$word")); return
  fi
  if [ "${{COMP_WORDS[1]}}" = help ]; then
    COMPREPLY=($(compgen -W '{0}' -- "$word")); return
  fi
  case "${{COMP_WORDS[1]}} $before" in
{1}  esac
  case "${{COMP_WORDS[1]}}" in
{2}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *)
      COMPREPLY=($(compgen -f -- "$word"))
      case "${{COMP_WORDS[1]}}:$before" in
        *:-*) ;;
        {3}) COMPREPLY+=($(compgen -W "$(headwater models --names 2>/dev/null)" -- "$word")) ;;
      esac ;;
  esac
}}
complete -o filenames -F _headwater headwater
)bash",
                     names, values, options, with_models);
}

// In single quotes, in which fish knows no other escapes.
std::string quoted_for_fish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const std::vector<Words>& commands) {
  std::string script = "# fish completion for headwater\n";
  for (const Words& command : commands) {
    script += fmt::format("complete -c headwater -n __fish_use_subcommand -a {} -d {}\n",
                          command.name, quoted_for_fish(command.about));
    const std::string after =
        fmt::format("complete -c headwater -n '__fish_seen_subcommand_from {}'", command.name);
    for (const std::string& option : command.options) {
      const auto words = command.values.find(option);
      script += fmt::format(
          "{} -l {}{}\n", after, option.substr(2),
          words == command.values.end() ? "" : fmt::format(" -x -a '{}'", words->second));
    }
    if (!command.values_of_positional.empty())
      script += fmt::format("{} -x -a '{}'\n", after, command.values_of_positional);
    if (command.names_models)
      script += fmt::format("{} -a '(headwater models --names 2>/dev/null)'\n", after);
  }
  script +=
      "complete -c headwater -n __fish_use_subcommand -a help -d 'The options of a command'\n";
  return script;
}

// zsh runs the completions of bash as they are.
std::string zsh(const std::vector<Words>& commands) {
  return "#compdef headwater\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands);
}

class CompletionCommand : public Command {
 public:
  CompletionCommand()
      : Command("completion", "A completion script for your shell: bash, zsh or fish",
                "headwater completion bash > /etc/bash_completion.d/headwater") {}

  void declare(OptionList& options) override {
    options.choice("SHELL", "SHELL", "bash, zsh or fish", {"bash", "zsh", "fish"}, shell_)
        .required = "bash, zsh or fish";
  }

  void run() override {
    const std::vector<Words> commands = words_of_all();
    print(shell_ == "bash" ? bash(commands) : shell_ == "zsh" ? zsh(commands) : fish(commands));
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace headwater::cli
