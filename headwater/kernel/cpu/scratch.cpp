#include "headwater/kernel/cpu/scratch.h"

#include "headwater/core/matrix.h"

namespace headwater::kernel {
namespace {

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

float* scratch(size_t floats) {
  thread_local Matrix memory;
  return at_least(floats, memory);
}

float* task_scratch(size_t floats) {
  thread_local Matrix memory;
  return at_least(floats, memory);
}

}  // namespace headwater::kernel
