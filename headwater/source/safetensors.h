// safetensors: a length, a JSON header, then the numbers of all arrays without gaps.
#pragma once
#include <string>

#include "headwater/source/arrays.h"

namespace headwater {

/// One array a layer, in the natural order of the numbers in their names; `attention_mask` apart;
/// tokens as a JSON list under "tokens" in the header's metadata. Nothing is copied.
Arrays read_safetensors(const std::string& path);

}  // namespace headwater
