// Words in the place of the tokens of a source.
#pragma once
#include <vector>

#include "headwater/core/range.h"
#include "headwater/source/description.h"

namespace headwater {

/// Replaces a source's tokens by words, and their places by the places of the words.
void merge_tokens(Description& source, const std::vector<Range>& words);

}  // namespace headwater
