#include "headwater/core/parse_json.h"

#include <algorithm>
#include <new>
#include <string>

namespace headwater {
namespace {

// On first use simdjson detects the processor. That allocates memory in functions that may not
// throw, so it is done while the program is loaded.
[[maybe_unused]] const bool knows_the_processor =
    !simdjson::get_active_implementation()->name().empty();

// The text with ".0" behind whole numbers of many digits.
std::string with_long_numbers(std::string_view text) {
  constexpr size_t most_digits = 18;  // fewer than 2^63
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  bool quoted = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '"') quoted = !quoted;
    if (quoted && text[at] == '\\') end = std::min(at + 2, text.size());
    const bool number = !quoted && is_digit(text[at]);
    // All of it, with a fraction and an exponent: those are no whole numbers.
    while (number && end < text.size() &&
           (is_digit(text[end]) || std::string_view(".eE+-").find(text[end]) != text.npos))
      ++end;
    const std::string_view part = text.substr(at, end - at);
    out += part;
    if (number && part.size() > most_digits && std::ranges::all_of(part, is_digit)) out += ".0";
    at = end;
  }
  return out;
}

}  // namespace

simdjson::padded_string pad_json(std::string_view text) {
  simdjson::padded_string padded(text);
  // It does not say so itself.
  if (padded.size() != text.size() || (padded.data() == nullptr && !text.empty()))
    throw std::bad_alloc();
  return padded;
}

simdjson::error_code parse_padded(simdjson::dom::parser& parser,
                                  const simdjson::padded_string& text,
                                  simdjson::dom::element& root) {
  const simdjson::error_code error = parser.parse(text).get(root);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return error;
}

simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::element& root) {
  const simdjson::error_code error = parse_padded(parser, pad_json(text), root);
  if (error != simdjson::NUMBER_ERROR) return error;
  return parse_padded(parser, pad_json(with_long_numbers(text)), root);
}

simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::object& root) {
  simdjson::dom::element element;
  if (const simdjson::error_code error = parse_json(parser, text, element)) return error;
  return element.get(root);
}

}  // namespace headwater
