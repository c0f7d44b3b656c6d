// The few operations that cost time, and which instruction set runs them. Everything else in the
// engine is written in terms of these.
//
// There is one table of kernels. It has an entry for each instruction set of this machine, all
// compiled from the same source in cpu/, and one for the plain loops in double in reference/, which
// judge the others. The best instruction set runs unless use() says otherwise.
//
// Include the header of a group (maps.h, network.h, backward.h, flow/flow.h) to call its kernels.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headwater/kernel/backward.h"
#include "headwater/kernel/flow/flow.h"
#include "headwater/kernel/maps.h"
#include "headwater/kernel/network.h"

namespace headwater::kernel {

/// Every kernel for one instruction set.
struct Kernels {
  std::string name;  // "avx3", "avx2", ..., "scalar", or "reference"
  MapKernels maps;
  NetworkKernels network;
  BackwardKernels backward;
  FlowKernels flow;
};

/// What this machine can run: its instruction sets, best first, then the reference. Made on the
/// first call and never changed.
const std::vector<Kernels>& all_kernels();

/// The last of all_kernels(): plain loops in double.
const Kernels& reference();

/// The entry that runs now. Costs one load.
const Kernels& in_use();

/// The names of all_kernels().
std::vector<std::string> available();

/// The name of in_use().
std::string_view name();

/// Makes one of available() the entry in use, for the whole process; "" goes back to the best.
/// Throws Error (usage) for any other name. Do not call it while other threads compute.
void use(std::string_view name);

}  // namespace headwater::kernel
