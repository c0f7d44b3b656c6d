// The operations of backward.h for every instruction set, from one source: Highway includes this
// file once for each.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/backward.cpp"
// foreach_target.h must come before the others; sorting would move it.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/cpu/backward_activation-inl.h"
#include "headwater/kernel/cpu/backward_attention-inl.h"
#include "headwater/kernel/cpu/backward_bias-inl.h"
#include "headwater/kernel/cpu/backward_norm-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

BackwardKernels backward_kernels() {
  return {layer_norm_backward, rms_norm_backward,  activation_backward,
          gated_backward,      attention_backward, weighted_sum};
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(backward_kernels);

}  // namespace

BackwardKernels backward_kernels(int64_t target) {
  return call_for(target, HWY_DISPATCH_TABLE(backward_kernels));
}

}  // namespace headwater::kernel
#endif  // HWY_ONCE
