// One table for each instruction set of the machine, out of what HWY_EXPORT made. For the sources
// that Highway includes once for each target; only their HWY_ONCE part needs this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "hwy/highway.h"

namespace headwater::kernel {

/// "avx3", "avx2", ..., "scalar".
const char* name_of_target(int64_t target);

/// made[...]() for each target that this machine can run, best first, with its name. HWY_EXPORT
/// makes an array of one function a target, in the order of Highway's mask of targets; taking from
/// it by index leaves Highway's own process-wide choice alone.
template <class Made>
auto tables_of(const Made& made) {
  std::vector<decltype(made[0]())> list;
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const int64_t mask = HWY_CHOSEN_TARGET_SHIFT(target) | HWY_CHOSEN_TARGET_MASK_SCALAR;
    const size_t index = hwy::Num0BitsBelowLS1Bit_Nonzero64(static_cast<uint64_t>(mask));
    list.push_back(made[std::size(made) == 1 ? 0 : index]());
    list.back().name = name_of_target(target);
  }
  return list;
}

}  // namespace headwater::kernel
