// Numbers on the command line.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace headwater::cli {

// The number that `option` was given. Each throws Error (usage), which names the option, for
// anything else and for a number that does not fit.
int parse_integer(std::string_view option, std::string_view text);
uint64_t parse_unsigned(std::string_view option, std::string_view text);
double parse_real(std::string_view option, std::string_view text);

/// Whole numbers between commas: "101,2023,102".
std::vector<int> parse_integers(std::string_view option, std::string_view text);

/// Numbers between commas: "0,0.2,0.4".
std::vector<double> parse_reals(std::string_view option, std::string_view text);

}  // namespace headwater::cli
