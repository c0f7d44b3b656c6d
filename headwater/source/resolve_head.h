// Which head a fusion names.
#pragma once
#include <string>

#include "headwater/source/fuse.h"

namespace headwater {

/// The index of the one head that `fuse` names, in a layer with `heads` heads. Throws Error if it
/// does not exist; `name` is the source's.
int resolve_head(const Fuse& fuse, int heads, int layer, const std::string& name);

}  // namespace headwater
