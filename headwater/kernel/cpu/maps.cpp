// The operations of maps.h for every instruction set, from one source: Highway includes this file
// once for each.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/maps.cpp"
// foreach_target.h must come before the others; sorting would move it.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/cpu/add_rows-inl.h"
#include "headwater/kernel/cpu/fuse-inl.h"
#include "headwater/kernel/cpu/multiply-inl.h"
#include "headwater/kernel/cpu/prepare-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

MapKernels map_kernels() { return {fuse_rows, prepare_rows, multiply, add_rows}; }

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(map_kernels);

}  // namespace

MapKernels map_kernels(int64_t target) { return call_for(target, HWY_DISPATCH_TABLE(map_kernels)); }

}  // namespace headwater::kernel
#endif  // HWY_ONCE
