// The kernels for every instruction set, from one source: Highway includes this file once for each.
#include "headwater/kernel/cpu/which_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headwater/kernel/cpu/kernels.cpp"
// foreach_target.h has to come before the others, which alphabetical order would not give.
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

Table table() { return {"", fuse_rows, prepare_rows, multiply, add_rows}; }

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headwater::kernel {
namespace {

HWY_EXPORT(table);

}  // namespace

const char* name_of_target(int64_t target) {
  switch (target) {
    case HWY_AVX3:
      return "avx3";
    case HWY_AVX2:
      return "avx2";
    case HWY_SSE4:
      return "sse4";
    case HWY_SSSE3:
      return "ssse3";
    case HWY_NEON:
      return "neon";
    case HWY_EMU128:
      return "emu128";
    default:
      return "scalar";
  }
}

std::vector<Table> cpu_tables() { return tables_of(HWY_DISPATCH_TABLE(table)); }

}  // namespace headwater::kernel
#endif  // HWY_ONCE
