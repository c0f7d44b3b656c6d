#include "headwater/model/tokenizer/score.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The double nearest to each power of ten.
double power_of_ten(int exponent) {
  static const std::array<double, 309> powers = [] {
    std::array<double, 309> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::stod(fmt::format("1e{}", i));
    return out;
  }();
  return powers[static_cast<size_t>(exponent)];
}

class Digits {
 public:
  // Returns false if one more digit would not fit: it and all after it are dropped.
  bool take(char c) {
    constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
    const auto digit = static_cast<uint64_t>(c - '0');
    if (full_ || value_ > most / 10 || (value_ == most / 10 && digit > most % 10)) {
      full_ = true;
      return false;
    }
    value_ = value_ * 10 + digit;
    return true;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0;
  bool full_ = false;
};

int exponent_of(std::string_view text) {
  constexpr int most = 100'000;
  const bool negative = !text.empty() && text[0] == '-';
  int value = 0;
  for (const char c : text)
    if (is_digit(c)) value = std::min(value * 10 + (c - '0'), most);
  return negative ? -value : value;
}

double scaled(double value, int exponent) {
  constexpr int largest = 308;
  while (exponent < -largest && value != 0) {
    value /= 1e308;
    exponent += largest;
  }
  if (value == 0) return 0;
  if (exponent > largest) return std::numeric_limits<double>::infinity();
  return exponent >= 0 ? value * power_of_ten(exponent) : value / power_of_ten(-exponent);
}

}  // namespace

double read_score(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  Digits digits;
  int exponent = 0;
  size_t at = 0;
  for (; at < number.size() && is_digit(number[at]); ++at)
    if (!digits.take(number[at])) ++exponent;
  if (at < number.size() && number[at] == '.') {
    for (++at; at < number.size() && is_digit(number[at]); ++at)
      if (digits.take(number[at])) --exponent;
  }
  if (at < number.size() && (number[at] == 'e' || number[at] == 'E'))
    exponent += exponent_of(number.substr(at + 1));
  const double value = scaled(static_cast<double>(digits.value()), exponent);
  return negative ? -value : value;
}

std::vector<double> read_scores(const simdjson::padded_string& file, const std::string& what) {
  namespace ondemand = simdjson::ondemand;
  std::vector<double> scores;
  const auto wrong = [&] {
    fail(
        "{}: \"vocab\" has an entry that is not [\"token\", score], expected those; check the file",
        what);
  };
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array list;
  if (parser.iterate(file).get(document) ||
      document.find_field_unordered("model").find_field_unordered("vocab").get_array().get(list))
    wrong();
  for (auto entry : list) {
    ondemand::array pair;
    if (entry.get_array().get(pair)) wrong();
    int place = 0;
    for (auto one : pair) {
      ondemand::value value;
      ondemand::json_type type;
      if (one.get(value)) wrong();
      if (place++ == 0) continue;
      if (value.type().get(type) || type != ondemand::json_type::number) wrong();
      const double score = read_score(value.raw_json_token());
      if (!std::isfinite(score)) wrong();
      scores.push_back(score);
    }
    if (place != 2) wrong();
  }
  return scores;
}

}  // namespace headwater
