#include "headwater/kernel/cpu/scratch.h"

#include "headwater/core/matrix.h"

namespace headwater::kernel {

float* scratch(size_t floats) {
  // A Matrix, because large ones lie in huge pages. Rows of 1024 keep both sides within int.
  constexpr size_t row = 1024;
  thread_local Matrix memory;
  if (memory.size() < floats) {
    memory = Matrix();  // the old one goes back first
    memory = Matrix(static_cast<int>((floats + row - 1) / row), static_cast<int>(row));
  }
  return memory.data();
}

}  // namespace headwater::kernel
