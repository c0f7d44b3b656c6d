// The kernels in CUDA C++ as text, for the compiler. CMake makes it of the .cu and .cuh files here,
// and of arguments.h.
#pragma once
#include <span>

namespace headwater::kernel::cuda {

struct Source {
  const char* name;
  const char* text;  // ends with a zero
};

std::span<const Source> sources();

}  // namespace headwater::kernel::cuda
