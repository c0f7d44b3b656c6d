// The largest values of a row.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The indices of the `count` largest kept values, or of all if there are fewer. Largest first; the
/// lower index first among equals. An empty `kept` keeps all values.
std::vector<int> top(std::span<const float> values, int count, const std::vector<bool>& kept = {});
std::vector<int> top(std::span<const double> values, int count, const std::vector<bool>& kept = {});

}  // namespace headwater
