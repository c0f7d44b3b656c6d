// Words in the place of the tokens of a source.
#pragma once
#include <vector>

#include "headwater/core/range.h"
#include "headwater/source/description.h"

namespace headwater {

/// Puts words in the place of a source's tokens, and their places in that of the tokens'.
void merge_tokens(Description& source, const std::vector<Range>& words);

}  // namespace headwater
