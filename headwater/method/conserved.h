// Checks that relevance by rule frozen adds up, except for rounding.
#pragma once
#include <optional>
#include <span>
#include <string>

namespace headwater {

/// A sentence for the notes if the values of tokens and biases do not sum to the output that they
/// explain.
std::optional<std::string> note_lost(std::span<const float> values, double biases,
                                     double explained);

}  // namespace headwater
