// A Fuse in the kernel's terms.
#pragma once
#include <string>

#include "headwater/kernel/network.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// How to make `map` from the heads of `layer`. Throws Error, which names the model, if the head
/// does not exist.
kernel::HeadMap head_map(const Fuse& fuse, int heads, int layer, const std::string& name,
                         MatrixSpan map);

}  // namespace headwater
