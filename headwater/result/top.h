// The largest values of a row.
#pragma once
#include <span>
#include <vector>

namespace headwater {

/// The places of the `count` largest values among those kept, largest first, equal ones in order;
/// fewer where there are fewer. `kept` has an entry for each value, or none: all are kept.
std::vector<int> top(std::span<const float> values, int count, const std::vector<bool>& kept = {});
std::vector<int> top(std::span<const double> values, int count, const std::vector<bool>& kept = {});

}  // namespace headwater
