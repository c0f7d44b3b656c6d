// The operations of network.h for every instruction set, from one source, as kernels.cpp has the
// others.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/network.cpp"
// foreach_target.h has to come before the others, which alphabetical order would not give.
// clang-format off
#include "hwy/foreach_target.h"
// clang-format on
#include "headwater/kernel/cpu/attention-inl.h"
#include "headwater/kernel/cpu/linear-inl.h"
#include "headwater/kernel/cpu/norm-inl.h"
#include "headwater/kernel/cpu/rotate-inl.h"
#include "headwater/kernel/cpu/targets.h"
#include "headwater/kernel/network.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

NetworkTable network_table() { return {"", linear, layer_norm, rms_norm, rotate, attention}; }

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(network_table);

}  // namespace

std::vector<NetworkTable> cpu_network_tables() {
  return tables_of(HWY_DISPATCH_TABLE(network_table));
}

}  // namespace headwater::kernel
#endif  // HWY_ONCE
