// An example of attention that is made up.
#pragma once
#include <string>

namespace headwater::cli {

/// Eight tokens, six layers of eight equal heads, as the JSON that headwater reads: near neighbours
/// in the low layers, the first and the last token in the high ones, as trained encoders tend to.
std::string quick_fox();

}  // namespace headwater::cli
