// Requests as lines and a body.
#pragma once
#include "tests/fuzz/structure/chance.h"

namespace headwater::fuzz {

/// The first line, a field or the body, which is JSON with `words`; with a length that fits,
/// mostly.
Change http_change(std::string_view words);

}  // namespace headwater::fuzz
