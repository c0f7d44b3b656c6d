// What a result of method gradient records besides its values.
#pragma once
#include <string>
#include <string_view>

#include "headwater/source/gradient.h"

namespace headwater {

/// How the maps of the layers are combined; method/gradient.h has the equations.
enum class GradientRule { gradient, gradient_rollout, chefer };

/// Parses "gradient", "gradient-rollout" or "chefer". Throws Error (usage) with the nearest word.
GradientRule parse_gradient_rule(std::string_view text);
std::string to_string(GradientRule rule);

struct GradientRecord {
  GradientRule rule = GradientRule::gradient;
  Target target;
  InputGradient input;
};

}  // namespace headwater
