// "Did you mean": the known name closest to what was typed.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace headwater {

/// The name with the fewest single-letter edits from `typed`, where case does not count. If even
/// that one differs in more than a third of the letters, the only name that starts with `typed`, or
/// "".
std::string_view nearest(std::string_view typed, std::span<const std::string_view> names);

/// "; did you mean 'X'?" for the nearest name, else "; expected one of a, b, c".
std::string suggestion(std::string_view typed, std::span<const std::string_view> names);

}  // namespace headwater
