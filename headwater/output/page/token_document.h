// Tokens as a page shows them: as parts of the text that they came from.
#pragma once
#include <string>
#include <vector>

#include "headwater/output/document.h"
#include "headwater/result/attribution.h"

namespace headwater {

/// {labels, before, text, special}, one entry a token, or the places of the special ones. `before`
/// is what lies between a token and the one before it, `text` the token's own part: together they
/// are the text, byte for byte, where the source knows it. A token of the model itself has no text.
/// A character that several tokens share belongs to the first.
Document token_document(const Description& source);

/// The same for tokens whose text is not known: words are put together again.
Document token_document(const std::vector<std::string>& tokens);

}  // namespace headwater
