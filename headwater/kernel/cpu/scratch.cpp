#include "headwater/kernel/cpu/scratch.h"

#include <pthread.h>

#include <memory>
#include <new>

#include "headwater/core/fail.h"
#include "headwater/core/matrix.h"

namespace headwater::kernel {
namespace {

struct Blocks {
  Matrix own, of_task;
};

// Not thread_local: glibc aborts if it has no memory to note a destructor, and a key needs none.
pthread_key_t make_key() {
  pthread_key_t key = 0;
  if (pthread_key_create(&key, [](void* blocks) { delete static_cast<Blocks*>(blocks); }) != 0)
    fail(
        "the process has used up its keys for memory of threads, expected one; load fewer "
        "libraries");
  return key;
}

Blocks& blocks_here() {
  static const pthread_key_t key = make_key();
  if (void* there = pthread_getspecific(key)) return *static_cast<Blocks*>(there);
  auto made = std::make_unique<Blocks>();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  return *made.release();
}

float* at_least(size_t floats, Matrix& memory) {
  // A Matrix, because large ones lie in huge pages. Rows of 1024 keep both sides within int.
  constexpr size_t row = 1024;
  if (memory.size() < floats) {
    memory = Matrix();  // the old one goes back first
    memory = Matrix(static_cast<int>((floats + row - 1) / row), static_cast<int>(row));
  }
  return memory.data();
}

}  // namespace

float* scratch(size_t floats) { return at_least(floats, blocks_here().own); }

float* task_scratch(size_t floats) { return at_least(floats, blocks_here().of_task); }

}  // namespace headwater::kernel
