// Short ways to throw Error with a formatted sentence.
#pragma once
#include <fmt/format.h>

#include "headwater/core/error.h"

namespace headwater {

template <class... Values>
[[noreturn]] void fail(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Error(fmt::format(sentence, std::forward<Values>(values)...));
}

template <class... Values>
[[noreturn]] void fail_usage(fmt::format_string<Values...> sentence, Values&&... values) {
  throw Error(fmt::format(sentence, std::forward<Values>(values)...), Error::Kind::usage);
}

}  // namespace headwater
