// Memory for packed operands. Each thread keeps its own, so that the product of each layer does not
// ask the system for pages again.
#pragma once
#include <cstddef>

namespace headwater::kernel {

/// At least `floats` floats of this thread, 64-byte aligned, not initialised. Valid until the
/// thread's next call. The thread keeps the largest block it has asked for.
float* scratch(size_t floats);

/// The same for a task of a parallel loop, where the thread may already use scratch() for the loop
/// as a whole.
float* task_scratch(size_t floats);

}  // namespace headwater::kernel
