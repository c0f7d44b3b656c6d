// Whether relevance by the rule frozen adds up, as it must but for rounding.
#pragma once
#include <optional>
#include <span>
#include <string>

namespace headwater {

/// A sentence for the notes if the tokens' values and what biases take do not sum to what they
/// explain.
std::optional<std::string> note_lost(std::span<const float> values, double biases,
                                     double explained);

}  // namespace headwater
