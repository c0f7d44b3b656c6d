// The operations of flow/flow.h for every instruction set, from one source: Highway includes this
// file once for each.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/flow/flow.cpp"
// foreach_target.h must come before the others; sorting would move it.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/cpu/flow/bits-inl.h"
#include "headwater/kernel/cpu/flow/blocks-inl.h"
#include "headwater/kernel/cpu/flow/collect-inl.h"
#include "headwater/kernel/cpu/flow/greedy-inl.h"
#include "headwater/kernel/cpu/flow/phases-inl.h"
#include "headwater/kernel/cpu/flow/raise-inl.h"
#include "headwater/kernel/cpu/flow/solver-inl.h"
#include "headwater/kernel/cpu/flow/task-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

FlowKernels flow_kernels() { return {make_solver, sum_of_minima, add_minima}; }

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(flow_kernels);

}  // namespace

FlowKernels flow_kernels(int64_t target) {
  return call_for(target, HWY_DISPATCH_TABLE(flow_kernels));
}

}  // namespace headwater::kernel
#endif  // HWY_ONCE
