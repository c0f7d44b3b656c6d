#include "headwater/model/tokenizer/pattern.h"

namespace headwater {

Pattern Pattern::literal(std::string text, const std::string& what) {
  // An empty text matches between all characters, like the empty expression.
  if (text.empty()) return regex(text, what);
  Pattern pattern;
  pattern.literal_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(const std::string& expression, const std::string& what) {
  Pattern pattern;
  pattern.regex_.emplace(expression, what);
  return pattern;
}

std::vector<Match> Pattern::matches(std::string_view text) const {
  if (regex_) return regex_->matches(text);
  if (text.empty()) return {{0, 0, false}};
  std::vector<Match> out;
  size_t covered = 0;
  for (size_t at; (at = text.find(literal_, covered)) != text.npos;
       covered = at + literal_.size()) {
    if (covered < at) out.push_back({covered, at, false});
    out.push_back({at, at + literal_.size(), true});
  }
  if (covered < text.size()) out.push_back({covered, text.size(), false});
  return out;
}

}  // namespace headwater
