// The operations of backward.h for every instruction set, from one source, as kernels.cpp has the
// others.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/backward.cpp"
// foreach_target.h has to come before the others, which alphabetical order would not give.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/backward_activation-inl.h"
#include "headwater/kernel/cpu/backward_attention-inl.h"
#include "headwater/kernel/cpu/backward_norm-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

BackwardTable backward_table() {
  return {"",
          layer_norm_backward,
          rms_norm_backward,
          activation_backward,
          gated_backward,
          attention_backward};
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(backward_table);

}  // namespace

std::vector<BackwardTable> cpu_backward_tables() {
  return tables_of(HWY_DISPATCH_TABLE(backward_table));
}

}  // namespace headwater::kernel
#endif  // HWY_ONCE
