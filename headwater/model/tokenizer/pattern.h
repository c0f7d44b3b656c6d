// What text is split at: a string, a regular expression, or single characters.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/model/tokenizer/characters.h"
#include "headwater/model/tokenizer/regex.h"

namespace headwater {

/// {"String": "..."} or {"Regex": "..."} of a tokenizer.json.
class Pattern {
 public:
  static Pattern literal(std::string text, const std::string& what);
  static Pattern regex(const std::string& pattern, const std::string& what);

  /// Covers all of `text` in order: the matches and the parts between them.
  std::vector<Match> matches(std::string_view text) const;

 private:
  std::string literal_;
  std::optional<Regex> regex_;
};

/// A match for each character that satisfies `wanted`, and the parts between them.
template <class Wanted>
std::vector<Match> match_characters(std::string_view text, Wanted wanted) {
  if (text.empty()) return {{0, 0, false}};
  std::vector<Match> out;
  size_t covered = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const size_t end = at + static_cast<size_t>(c.length);
    if (wanted(c.code)) {
      if (covered < at) out.push_back({covered, at, false});
      out.push_back({at, end, true});
      covered = end;
    }
    at = end;
  }
  if (covered < text.size()) out.push_back({covered, text.size(), false});
  return out;
}

}  // namespace headwater
