#include "headwater/result/gradient_record.h"

#include <algorithm>
#include <array>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater {
namespace {

constexpr std::array<std::string_view, 3> rule_names = {"gradient", "gradient-rollout", "chefer"};

}  // namespace

GradientRule parse_gradient_rule(std::string_view text) {
  for (size_t k = 0; k < rule_names.size(); ++k)
    if (rule_names[k] == text) return static_cast<GradientRule>(k);
  fail_usage("unknown rule '{}'{}", text, suggestion(text, rule_names));
}

std::string to_string(GradientRule rule) {
  return std::string(rule_names[static_cast<size_t>(rule)]);
}

}  // namespace headwater
