// safetensors: a length, a JSON header, then the numbers of all arrays without gaps.
#pragma once
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// One array a layer, in the natural order of their names, except `attention_mask`. Tokens are a
/// JSON list under "tokens" in the header's metadata. Nothing is copied.
Arrays read_safetensors(const std::string& path);

}  // namespace headwater
