// Made-up attention for the demo.
#pragma once
#include <string>

namespace headwater::cli {

/// Eight tokens, six layers of eight equal heads, as the JSON that headwater reads: the low
/// layers attend to near neighbours, the high ones to the first and the last token, as trained
/// encoders tend to do.
std::string quick_fox();

}  // namespace headwater::cli
