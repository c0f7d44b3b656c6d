// The one exception type that headwater throws.
#pragma once
#include <stdexcept>
#include <string>

namespace headwater {

/// Thrown where outside data enters. what() is one sentence: the file or option, the place, what
/// was found, what was expected and what to do. It names options by their C++ and Python words in
/// backticks: `top_k`. Our own mistakes are asserts.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    work,   // a file, a number or a place is wrong
    usage,  // an unknown word: an option, a value, a preset, a file ending
  };
  explicit Error(const std::string& message, Kind kind = Kind::work)
      : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace headwater
