// Maximum flow by LEMON's push-relabel, the oracle of these tests.
#pragma once
#include <cstdint>
#include <vector>

namespace headwater::test {

/// layers[l][i * n + j]: capacity of (l + 1, i) -> (l, j). The values from every token of level
/// layers.size() to every token of level 0, row by row. Compiled as C++17: LEMON is not C++20.
std::vector<int64_t> flows_by_lemon(const std::vector<std::vector<int32_t>>& layers, int n);

}  // namespace headwater::test
