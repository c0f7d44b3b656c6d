// The reference: every kernel in double with plain loops. It judges the fast ones, so it stays
// obvious. Each file of this folder has one group; kernel.cpp makes one entry of them.
#pragma once
#include "headwater/kernel/kernel.h"

namespace headwater::kernel {

MapKernels reference_maps();
NetworkKernels reference_network();
BackwardKernels reference_backward();
FlowKernels reference_flow();

}  // namespace headwater::kernel
