// What a result of method relevance records besides its values.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "headwater/source/relevance.h"

namespace headwater {

/// Parses "frozen", "attnlrp" or "integrated". Throws Error (usage) with the nearest word.
RelevanceRule parse_relevance_rule(std::string_view text);
std::string to_string(RelevanceRule rule);
/// Parses "logit" or "log-probability". Throws Error (usage) with the nearest word.
WordScore parse_word_score(std::string_view text);
std::string to_string(WordScore score);

struct RelevanceRecord {
  RelevanceRule rule = RelevanceRule::frozen;
  Target target;
  double output = 0;         // the target's logit, or the difference of two
  double sum = 0;            // of the relevance of all tokens
  double rest = 0;           // what biases take; for integrated, the output at the baseline
  int steps = 0;             // for integrated
  std::string baseline;      // for integrated
  std::optional<int> layer;  // of `edges`
  Matrix heads;              // layers x heads: the share of each head; no rows if not asked for
  Matrix edges;  // n x n: what token i of the layer's output got from token j of its input
};

}  // namespace headwater
