// Kernels that are ready to start: compiled for the chip that is there, kept on disk and in memory.
#pragma once
#include <string>
#include <vector>

#include "headwater/kernel/cuda/driver.h"

namespace headwater::kernel::cuda {

/// Which kernel: a source, the macros that it is compiled with, and the shared memory of a block.
/// The function has the source's name, without its ending.
struct Variant {
  std::string source;
  std::vector<std::string> defines;
  unsigned shared_bytes = 0;
};

/// The kernel on a device. The first call compiles it, in a second or so, or reads it from the
/// cache. Throws Error if that fails, or if the device has too little shared memory.
const Function& kernel_for(int device, const Variant& variant);

/// What a device is compiled for: "sm_90a". Hopper has instructions that later chips lack.
std::string chip_of(const Device& device);

struct Status {
  bool ready = false;
  std::string why;  // one sentence: what runs, or what is missing
};

/// Whether kernels can run on a device. Does not compile any. Never throws.
Status status(int device);

}  // namespace headwater::kernel::cuda
