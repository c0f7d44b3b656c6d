// The kernels of every instruction set of this machine.
#pragma once
#include <vector>

#include "headwater/kernel/kernel.h"

namespace headwater::kernel {

/// Best first; the baseline that every machine of this kind has comes last.
std::vector<Kernels> cpu_kernels();

}  // namespace headwater::kernel
