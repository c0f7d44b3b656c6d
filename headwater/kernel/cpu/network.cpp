// The operations of network.h for every instruction set, from one source: Highway includes this
// file once for each.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/network.cpp"
// foreach_target.h must come before the others; sorting would move it.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/cpu/activate-inl.h"
#include "headwater/kernel/cpu/attention-inl.h"
#include "headwater/kernel/cpu/linear-inl.h"
#include "headwater/kernel/cpu/norm-inl.h"
#include "headwater/kernel/cpu/rotate-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

NetworkKernels network_kernels() {
  return {linear, activate, layer_norm, rms_norm, rotate, attention};
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(network_kernels);

}  // namespace

NetworkKernels network_kernels(int64_t target) {
  return call_for(target, HWY_DISPATCH_TABLE(network_kernels));
}

}  // namespace headwater::kernel
#endif  // HWY_ONCE
