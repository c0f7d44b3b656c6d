// The threads with which torch computes: what a capture asks of the engine comes between loops of
// torch, and runs on the same threads.
#pragma once
#include "headwater/core/parallel.h"

namespace headwater::python {

/// A team of the OpenMP library that this process has loaded for everybody, as torch does with its
/// own. Null where there is none, and in a child of fork(), which lacks the threads that the
/// library believes in.
Team openmp();

}  // namespace headwater::python
