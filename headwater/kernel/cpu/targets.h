// From what Highway compiled to one entry for each instruction set. Each source that Highway
// includes once for each target gives its group of kernels; cpu.cpp puts the groups together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "headwater/kernel/cpu/which_targets.h"
#include "headwater/kernel/kernel.h"
#include "hwy/highway.h"

namespace headwater::kernel {

/// The groups for one target of Highway. All sources compile the same targets (which_targets.h).
MapKernels map_kernels(int64_t target);
NetworkKernels network_kernels(int64_t target);
BackwardKernels backward_kernels(int64_t target);
FlowKernels flow_kernels(int64_t target);

/// What the function for `target` returns. `functions` is the array that HWY_EXPORT makes: one
/// function for each target, in the order of Highway's mask of targets. Reading it by index leaves
/// Highway's own choice for the process alone.
template <class Functions>
auto call_for(int64_t target, const Functions& functions) {
  const int64_t mask = HWY_CHOSEN_TARGET_SHIFT(target) | HWY_CHOSEN_TARGET_MASK_SCALAR;
  const size_t index = hwy::Num0BitsBelowLS1Bit_Nonzero64(static_cast<uint64_t>(mask));
  return functions[std::size(functions) == 1 ? 0 : index]();
}

}  // namespace headwater::kernel
