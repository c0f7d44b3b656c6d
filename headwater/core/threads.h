// How many threads the engine uses.
#pragma once

namespace headwater {

/// How many threads a computation uses, the caller's included. At first: the cores this process may
/// use.
int threads();

/// Sets that number; values below 1 mean 1. Results are the same bytes for every number.
void set_threads(int count);

}  // namespace headwater
