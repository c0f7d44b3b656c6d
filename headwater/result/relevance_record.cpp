#include "headwater/result/relevance_record.h"

#include <array>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

constexpr std::array<std::string_view, 3> relevance_rules = {"frozen", "attnlrp", "integrated"};

}  // namespace

RelevanceRule parse_relevance_rule(std::string_view text) {
  for (size_t k = 0; k < relevance_rules.size(); ++k)
    if (relevance_rules[k] == text) return static_cast<RelevanceRule>(k);
  fail_usage("unknown rule '{}'{}", text, suggestion(text, relevance_rules));
}

std::string to_string(RelevanceRule rule) {
  return std::string(relevance_rules[static_cast<size_t>(rule)]);
}

}  // namespace headwater
