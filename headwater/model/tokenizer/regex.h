// Regular expressions in a tokenizer.json, matched by Oniguruma.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/aligned_text.h"

struct re_pattern_buffer;
struct OnigMatchParamStruct;

namespace headwater {

class Regex {
 public:
  /// Throws Error naming `what` if Oniguruma rejects the pattern.
  Regex(const std::string& pattern, const std::string& what);

  /// Covers all of `text`, valid UTF-8, in order: the matches and the parts between them. Character
  /// categories are those of Unicode 16. Thread-safe. Takes its steps from the open
  /// Budget, which throws Error when they are spent.
  std::vector<Match> matches(std::string_view text) const;

 private:
  struct Free {
    void operator()(re_pattern_buffer* regex) const;
  };
  std::unique_ptr<re_pattern_buffer, Free> regex_;
  std::string what_;
};

}  // namespace headwater
