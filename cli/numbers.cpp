#include "cli/numbers.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "headwater/core/fail.h"

namespace headwater::cli {
namespace {

template <class Number>
Number parse_number(std::string_view option, std::string_view text, std::string_view expected) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error == std::errc::invalid_argument || stop != end)
    fail_usage("{} '{}': expected {}; see --help", option, text, expected);
  if (error == std::errc::result_out_of_range) {
    if constexpr (std::is_integral_v<Number>)
      fail_usage("{} '{}': is out of range, expected a whole number from {} to {}; choose another",
                 option, text, std::numeric_limits<Number>::min(),
                 std::numeric_limits<Number>::max());
    fail_usage("{} '{}': is out of range, expected {} that fits a double; choose another", option,
               text, expected);
  }
  return value;
}

}  // namespace

int parse_integer(std::string_view option, std::string_view text) {
  return parse_number<int>(option, text, "a whole number");
}

uint64_t parse_unsigned(std::string_view option, std::string_view text) {
  return parse_number<uint64_t>(option, text, "a whole number, 0 or more");
}

double parse_real(std::string_view option, std::string_view text) {
  return parse_number<double>(option, text, "a number");
}

namespace {

template <class Number>
std::vector<Number> parse_each(std::string_view option, std::string_view text,
                               Number (*parse)(std::string_view, std::string_view)) {
  std::vector<Number> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    numbers.push_back(parse(option, text.substr(at, comma - at)));
    at = comma + 1;
  }
  return numbers;
}

}  // namespace

std::vector<int> parse_integers(std::string_view option, std::string_view text) {
  return parse_each<int>(option, text, parse_integer);
}

std::vector<double> parse_reals(std::string_view option, std::string_view text) {
  return parse_each<double>(option, text, parse_real);
}

}  // namespace headwater::cli
