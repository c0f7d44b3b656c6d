// What a result of method gradient records beside its values.
#pragma once
#include <string>
#include <string_view>

#include "headwater/source/gradient.h"

namespace headwater {

/// How the maps of the layers become one; method/gradient.h has the equations.
enum class GradientRule { gradient, gradient_rollout, chefer };

/// "gradient", "gradient-rollout", "chefer". Throws Error (usage) with the nearest word.
GradientRule parse_gradient_rule(std::string_view text);
std::string to_string(GradientRule rule);

struct GradientRecord {
  GradientRule rule = GradientRule::gradient;
  Target target;
  InputGradient input;
};

}  // namespace headwater
