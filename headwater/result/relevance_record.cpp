#include "headwater/result/relevance_record.h"

#include <array>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

constexpr std::array<std::string_view, 3> relevance_rules = {"frozen", "attnlrp", "integrated"};
constexpr std::array<std::string_view, 2> word_scores = {"logit", "log-probability"};

}  // namespace

RelevanceRule parse_relevance_rule(std::string_view text) {
  for (size_t k = 0; k < relevance_rules.size(); ++k)
    if (relevance_rules[k] == text) return static_cast<RelevanceRule>(k);
  fail_usage("unknown rule '{}'{}", text, suggestion(text, relevance_rules));
}

std::string to_string(RelevanceRule rule) {
  return std::string(relevance_rules[static_cast<size_t>(rule)]);
}

WordScore parse_word_score(std::string_view text) {
  for (size_t k = 0; k < word_scores.size(); ++k)
    if (word_scores[k] == text) return static_cast<WordScore>(k);
  fail_usage("unknown score '{}'{}", text, suggestion(text, word_scores));
}

std::string to_string(WordScore score) {
  return std::string(word_scores[static_cast<size_t>(score)]);
}

}  // namespace headwater
