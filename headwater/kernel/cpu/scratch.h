// Memory for packed operands: kept by the thread that needs it, so that a product a layer does not
// ask the system for pages a layer.
#pragma once
#include <cstddef>

namespace headwater::kernel {

/// At least `floats` floats of this thread, 64-byte aligned, with anything in them. Valid until the
/// thread's next call. What is held is the largest that was asked for.
float* scratch(size_t floats);

/// The same for use inside a task of a parallel loop, where the thread may hold scratch() for the
/// loop as a whole.
float* task_scratch(size_t floats);

}  // namespace headwater::kernel
