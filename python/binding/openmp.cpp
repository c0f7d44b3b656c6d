#include "python/binding/openmp.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

namespace headwater::python {
namespace {

// What "#pragma omp parallel" compiles to. All OpenMP libraries have it under this name.
using Parallel = void (*)(void (*work)(void*), void* data, unsigned threads, unsigned flags);

std::atomic<Parallel> parallel = nullptr;

void run(void (*work)(void*), void* data, int count) {
  parallel.load()(work, data, static_cast<unsigned>(count), 0);
}

}  // namespace

Team openmp() {
  static const bool found = [] {
    parallel = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
    return pthread_atfork(nullptr, nullptr, [] { parallel = nullptr; }) == 0;
  }();
  return found && parallel.load() != nullptr ? run : nullptr;
}

}  // namespace headwater::python
