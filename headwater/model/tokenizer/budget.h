// Limits on what a tokenizer may spend on one text. A small tokenizer.json can ask for gigabytes,
// by steps that each double the text, or for minutes, by patterns that backtrack; each alone looks
// sensible.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace headwater {

class Budget {
 public:
  /// Opens the budget of a text of this many bytes, in this thread, for as long as it lives. One
  /// that is opened inside another spends from the outer one.
  Budget(size_t bytes, const std::string& tokenizer);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Bytes of text that a step makes. Throws Error when all steps together make too many.
  static void spend_bytes(size_t bytes);
  /// Steps of a regular expression, named by `what`. Throws Error when all together take too many,
  /// or, if no budget is open, when these alone do.
  static void spend_steps(uint64_t steps, const std::string& what);

 private:
  static thread_local Budget* open_;
  const std::string& tokenizer_;
  size_t text_, bytes_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace headwater
