// Results that hold only some of the input tokens.
#pragma once
#include <string_view>

#include "headwater/result/attribution.h"

namespace headwater {

/// Throws Error (usage) unless the result holds all input tokens. `what` names what needs them: a
/// picture's file, or a filter.
void need_all_columns(const Attribution& result, std::string_view what);

}  // namespace headwater
