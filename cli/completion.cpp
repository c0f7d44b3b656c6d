#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "cli/parse.h"
#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::cli {
namespace {

// The options whose values are words, and the words.
const std::map<std::string, std::string>& value_words() {
  static const std::map<std::string, std::string> words = {
      {"--preset", "paper tutorial vit-explain metrics"},
      {"--fuse", "mean max min head:"},
      {"--order", "residual-first discard-first"},
      {"--empty", "identity zero"},
      {"--divide", "always changed"},
      {"--row", "all cls last mask mean"},
      {"--by", "layer evolution discard fuse method model"},
      {"--rule", "gradient gradient-rollout chefer"},
      {"--position", "predicting own"},
      {"--sums", "any checked"},
      {"--nan", "identity error"},
      {"--filter", "special punctuation common"},
  };
  return words;
}

std::string names_of(const std::vector<CommandWords>& commands) {
  std::string names;
  for (const CommandWords& command : commands) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

std::string bash(const std::vector<CommandWords>& commands) {
  std::string values, options;
  for (const auto& [option, words] : value_words())
    values += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                          option, words);
  for (const CommandWords& command : commands)
    options +=
        fmt::format("    {}) options='{}' ;;\n", command.name, fmt::join(command.options, " "));
  return fmt::format(R"(# bash completion for headwater
_headwater() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" options=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word")); return
  fi
  case "$before" in
{}    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word")); return ;;
  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _headwater headwater
)",
                     names_of(commands), values, options);
}

// In single quotes, of which fish knows no other escapes.
std::string quoted_for_fish(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const std::vector<CommandWords>& commands) {
  std::string script = "# fish completion for headwater\n";
  for (const CommandWords& command : commands) {
    script += fmt::format("complete -c headwater -n __fish_use_subcommand -a {} -d {}\n",
                          command.name, quoted_for_fish(command.help));
    for (const std::string& option : command.options) {
      const auto words = value_words().find(option);
      script += fmt::format(
          "complete -c headwater -n '__fish_seen_subcommand_from {}' -l {}{}\n", command.name,
          option.substr(2),
          words == value_words().end() ? "" : fmt::format(" -x -a '{}'", words->second));
    }
  }
  return script +
         "complete -c headwater -n '__fish_seen_subcommand_from completion' -x -a 'bash zsh "
         "fish'\n";
}

// zsh runs bash's completions as they are.
std::string zsh(const std::vector<CommandWords>& commands) {
  return "#compdef headwater\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands);
}

}  // namespace

std::string completion(std::string_view shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  if (shell.empty())
    fail_usage(
        "completion: no shell was given, expected bash, zsh or fish; for example headwater "
        "completion bash");
  constexpr std::array<std::string_view, 3> known = {"bash", "zsh", "fish"};
  fail_usage("unknown shell '{}'{}", shell, suggestion(shell, known));
}

}  // namespace headwater::cli
