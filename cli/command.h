// One command of the command line: its options, what they say about themselves, and what they put
// into Arguments.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/options.h"

namespace headwater::cli {

// A preset sets many options at once wherever it stands, so the others wait for it.
class Command {
 public:
  enum class Takes { anything, models };

  Command(CLI::App& app, const char* name, const char* about, const char* example,
          void (*run)(const Arguments&))
      : run(run), app_(*app.add_subcommand(name, about)) {
    app_.allow_extras();
    app_.footer(std::string("Example:\n  ") + example);
    app_.set_help_flag("-h,--help", "Show this help");
  }

  using Take = std::function<void(Arguments&, const std::string&)>;
  void option(const char* names, const char* about, const char* value, const Take& take,
              const char* group) {
    app_.add_option_function<std::string>(
            names, [this, take](const std::string& text) { take(arguments, text); }, about)
        ->type_name(value)
        ->take_last()
        ->group(group);
  }
  void later(const char* names, const char* about, const char* value,
             const std::function<void(Options&, const std::string&)>& take) {
    app_.add_option_function<std::string>(
            names,
            [this, take](const std::string& text) {
              overrides_.push_back([take, text](Options& options) { take(options, text); });
            },
            about)
        ->type_name(value)
        ->take_last()
        ->group("Options");
  }
  /// Understood, so that it can be refused with a reason, but in no help.
  void hide(const char* name) { app_.get_option(name)->group(""); }
  void flag(const char* names, const char* about, bool Arguments::*field, const char* group) {
    app_.add_flag_function(
            names, [this, field](int64_t) { arguments.*field = true; }, about)
        ->disable_flag_override()
        ->group(group);
  }
  /// May be given several times.
  void several(const char* names, const std::string& about, const char* value,
               std::vector<std::string> Arguments::*field, const char* group);
  void all(const std::vector<OptionSpec>& list) {
    for (const OptionSpec& one : list) option(one.names, one.about, one.value, one.take, one.group);
  }
  /// The positional argument, of a command that takes files of attention too or models alone.
  void source(Takes what, const char* shipped = "verb-number, facts, shapes");
  void reading(Takes what);
  void preparing(Preset preset);
  void rows(const char* about);
  void output(const char* endings);
  void showing();

  /// The arguments with the preset first and what was said explicitly on top.
  Arguments finish();
  CLI::App& app() { return app_; }

  Arguments arguments;
  void (*run)(const Arguments&);

 private:
  CLI::App& app_;
  Preset preset_ = Preset::paper;
  std::vector<std::function<void(Options&)>> overrides_;
};

}  // namespace headwater::cli
