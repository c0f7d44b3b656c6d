// The flow solver for every instruction set, from one source, as kernels.cpp has the kernels.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/flow/flow.cpp"
// foreach_target.h has to come before the others, which alphabetical order would not give.
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

FlowTable flow_table() { return {"", make_solver, sum_of_minima, add_minima}; }

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(flow_table);

}  // namespace

std::vector<FlowTable> cpu_flow_tables() { return tables_of(HWY_DISPATCH_TABLE(flow_table)); }

}  // namespace headwater::kernel
#endif  // HWY_ONCE
