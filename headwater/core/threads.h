// The engine's own threads: one pool for the process, made when it is first needed.
#pragma once
#include <functional>

namespace headwater {

/// How many threads parallel_for uses, the caller included. At first: the cores this process may
/// use.
int threads();

/// Sets it; values below 1 mean 1. Results do not depend on it: the same bytes for every number.
void set_threads(int count);

/// Calls task(0) ... task(count - 1), each once, in any order, on several threads, and returns when
/// all are done. When a task throws, no more begin, and the exception of the lowest that threw is
/// thrown again here: the same one for any number of threads. A call from inside a task, or from a
/// second thread while the pool is busy, runs on its own thread.
void parallel_for(int count, const std::function<void(int)>& task);

}  // namespace headwater
