#include "headwater/result/relevance_record.h"

#include <array>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

constexpr std::array<std::string_view, 3> rule_names = {"frozen", "attnlrp", "integrated"};

}  // namespace

RelevanceRule parse_relevance_rule(std::string_view text) {
  for (size_t k = 0; k < rule_names.size(); ++k)
    if (rule_names[k] == text) return static_cast<RelevanceRule>(k);
  fail_usage("unknown rule '{}'{}", text, suggestion(text, rule_names));
}

std::string to_string(RelevanceRule rule) {
  return std::string(rule_names[static_cast<size_t>(rule)]);
}

}  // namespace headwater
