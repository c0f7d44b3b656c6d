// Torch's threads: the engine's work for a capture comes between loops of torch, and runs on the
// same threads.
#pragma once
#include "headwater/core/parallel.h"

namespace headwater::python {

/// A team of the OpenMP library that is loaded into the whole process, as torch's is. Null if there
/// is none, and in a child of fork(), where the threads that the library expects do not exist.
Team openmp();

}  // namespace headwater::python
