// The version of this engine; every result records it.
#pragma once

namespace headwater {

/// For example "0.1.0".
const char* version();

}  // namespace headwater
