// The one exception that headwater throws.
#pragma once
#include <stdexcept>
#include <string>

namespace headwater {

/// Thrown where outside data enters: what() is one sentence that names the file or option, the
/// place, what was found, what was expected and what to do. Options stand in backticks, `top_k`, by
/// the words that C++ and Python have for them. Mistakes of our own are asserts.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    work,   // a file, a number or a place that is not as it must be
    usage,  // a word that nobody knows: an option, a value, a preset, a file ending
  };
  explicit Error(const std::string& message, Kind kind = Kind::work)
      : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace headwater
