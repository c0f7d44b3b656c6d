// The options of a command, as data: what they are called, what the help says about them, and where
// their values go. Only parse.cpp knows the library that reads the command line.
#pragma once
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater::cli {

/// One option, or one positional argument.
struct Option {
  std::string names;  // "--row" or "-o,--output"; a positional has no dashes: "SOURCE"
  std::string value;  // what the help shows for its value; "" for a flag, which has none
  std::string about;
  std::string group;  // the heading in the help; "" keeps the option out of the help
  /// Stores what was typed ("" for a flag). Throws Error (usage) for an unknown value. It reads no
  /// files and changes nothing outside its command.
  std::function<void(const std::string& text)> take;
  bool several = false;                   // takes every value typed, not just the last
  std::vector<std::string_view> words{};  // values that shells complete
  bool names_models = false;              // shells also complete the names of models
  std::string required{};                 // what was expected, if the option must be given
};

/// What a command declares. Each function adds one option to the group and returns it, valid until
/// the next one is added. The values it fills must outlive the list.
class OptionList {
 public:
  /// Sets the heading for the options that follow.
  void group(const char* name) { group_ = name; }

  Option& add(const char* names, const char* value, const std::string& about,
              std::function<void(const std::string&)> take);
  Option& flag(const char* name, const char* about, bool& given);
  Option& text(const char* names, const char* value, const std::string& about, std::string& out);
  Option& text(const char* names, const char* value, const std::string& about,
               std::optional<std::string>& out);
  Option& texts(const char* names, const char* value, const std::string& about,
                std::vector<std::string>& out);
  Option& integer(const char* name, const char* value, const char* about, int& out);
  Option& integer(const char* name, const char* value, const char* about, std::optional<int>& out);
  Option& real(const char* name, const char* value, const char* about, double& out);
  /// One of `words`, which must outlive the list. Anything else is an Error (usage) with the
  /// nearest word.
  Option& choice(const char* name, const char* value, const char* about,
                 std::initializer_list<std::string_view> words, std::string& out);

  /// Still understood, so that the library can refuse it with a reason, but not in the help.
  void hide(std::string_view names);
  /// No longer required.
  void make_optional(std::string_view names);

  const std::vector<Option>& all() const { return options_; }

  std::string line;  // the whole command as it was typed, quoted for a shell

 private:
  const char* group_ = "Options";
  Option& find(std::string_view names);

  std::vector<Option> options_;
};

/// Whether the option is typed by its place and not by its name.
inline bool is_positional(const Option& option) { return !option.names.starts_with('-'); }

/// "--output" of "-o,--output".
std::string long_name(const Option& option);

}  // namespace headwater::cli
