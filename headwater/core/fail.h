// Short ways to throw Error with a formatted sentence.
#pragma once
#include <fmt/format.h>

#include "headwater/core/error.h"

namespace headwater {

/// The sentence on one line that any terminal may show, whatever names from a file stand in it:
/// control characters become \xNN, bytes that are no UTF-8 U+FFFD, and the middle of a very long
/// one is left out.
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
