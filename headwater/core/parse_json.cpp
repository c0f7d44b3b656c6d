#include "headwater/core/parse_json.h"

#include <new>

namespace headwater {
namespace {

// At its first use simdjson looks which processor this is, which takes memory, in functions that
// may not throw: better now, while the program is loaded.
[[maybe_unused]] const bool knows_the_processor =
    !simdjson::get_active_implementation()->name().empty();

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
  return parse_padded(parser, pad_json(text), root);
}

simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::object& root) {
  simdjson::dom::element element;
  if (const simdjson::error_code error = parse_json(parser, text, element)) return error;
  return element.get(root);
}

}  // namespace headwater
