// Results that hold some of the input tokens only.
#pragma once
#include <string_view>

#include "headwater/result/attribution.h"

namespace headwater {

/// Throws Error (usage) unless the result holds all input tokens; `what` needs them: a picture's
/// file, or a filter.
void need_all_columns(const Attribution& result, std::string_view what);

}  // namespace headwater
