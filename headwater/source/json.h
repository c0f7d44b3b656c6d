// Attention as JSON: {"tokens": [...], "attentions": nested lists}.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headwater/source/arrays.h"

namespace headwater {

/// "attentions" has a shape as in .npy ([n,n], [L,n,n], [L,H,n,n] or [L,B,H,n,n]), with lists of
/// equal length on every level. "tokens" and "attention_mask" are optional; other keys are ignored.
/// Holds the whole file in memory.
Arrays read_json(const std::string& path);

/// A JSON list of strings, or of equally long lists of strings. Throws Error naming `what`.
Tokens parse_tokens(std::string_view json, const std::string& what);

/// The tokens of a file: a JSON list in a .json, else one token a line. Throws Error.
std::vector<std::string> read_tokens(const std::string& path);

}  // namespace headwater
