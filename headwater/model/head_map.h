// A Fuse in the words of the kernel.
#pragma once
#include <string>

#include "headwater/kernel/network.h"
#include "headwater/source/fuse.h"

namespace headwater {

/// How `map` is made of the heads of `layer`. Throws Error, which names the model, for a head that
/// is not there.
kernel::HeadMap head_map(const Fuse& fuse, int heads, int layer, const std::string& name,
                         MatrixSpan map);

}  // namespace headwater
