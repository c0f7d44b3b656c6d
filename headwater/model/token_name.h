// What a token is called.
#pragma once
#include <optional>
#include <string>

#include "headwater/model/tokenizer/tokenizer.h"

namespace headwater {

/// Its word; its number where there is no tokenizer, or one that has no word for it: vocabularies
/// have gaps and may be smaller than the model's.
std::string token_name(const std::optional<Tokenizer>& tokenizer, int id);

}  // namespace headwater
