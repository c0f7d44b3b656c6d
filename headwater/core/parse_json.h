// JSON with simdjson, so that a lack of memory is never taken for a mistake in the text.
#pragma once
#include <simdjson.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace headwater {

/// The text with the room after it that simdjson wants. Throws std::bad_alloc.
simdjson::padded_string pad_json(std::string_view text);

/// The same as below, for a text that the caller keeps.
simdjson::error_code parse_padded(simdjson::dom::parser& parser,
                                  const simdjson::padded_string& text,
                                  simdjson::dom::element& root);

/// Sets `root` to the document in `text`, which the parser owns from then on; `text` may go. Whole
/// numbers of more than 64 bits, which transformers writes for "no limit", are floating point.
/// Returns what is wrong with the text, if something is. Throws std::bad_alloc if there is no
/// memory for it.
simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::element& root);

/// The same for a document that is an object.
simdjson::error_code parse_json(simdjson::dom::parser& parser, std::string_view text,
                                simdjson::dom::object& root);

/// A file's bytes as text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace headwater
