// The kernels as text in CUDA C++, for the compiler. CMake makes it from the .cu and .cuh files
// here and arguments.h.
#pragma once
#include <span>

namespace headwater::kernel::cuda {

struct Source {
  const char* name;
  const char* text;  // ends with a zero
};

std::span<const Source> sources();

}  // namespace headwater::kernel::cuda
