// Shorthands that throw Error with a formatted sentence.
#pragma once
#include <fmt/format.h>

#include "headwater/core/error.h"

namespace headwater {

/// The sentence as one line that is safe for any terminal, even with names from a file in it.
/// Characters that could change the line unseen become \xNN or \uNNNN, and bytes that are not UTF-8
/// become U+FFFD. A very long sentence loses its middle.
std::string one_line(const std::string& sentence);

template <class... Values>
[[noreturn]] void fail(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Error(one_line(fmt::format(sentence, std::forward<Values>(values)...)));
}

template <class... Values>
[[noreturn]] void fail_usage(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Error(one_line(fmt::format(sentence, std::forward<Values>(values)...)), Error::Kind::usage);
}

}  // namespace headwater
