// weighted_sum: what a bias takes of a gradient. Rows one after the other, so that rows of several
// inputs give each the same bytes as its own.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_BIAS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_BIAS_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_BIAS_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_BIAS_INL_H
#endif

#include <span>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

double weighted_sum(MatrixView x, std::span<const float> weight) {
  const FewFloats d;
  const Doubles wide;
  // Four sums, so that additions do not wait for each other.
  DoubleVec sum[4] = {hn::Zero(wide), hn::Zero(wide), hn::Zero(wide), hn::Zero(wide)};
  double rest = 0;
  for (int t = 0; t < x.rows(); ++t) {
    const float* row = x.row(t).data();
    const auto add = [&](size_t j, DoubleVec& to) {
      to = hn::MulAdd(hn::PromoteTo(wide, hn::LoadU(d, row + j)),
                      hn::PromoteTo(wide, hn::LoadU(d, weight.data() + j)), to);
    };
    size_t j = 0;
    for (; j + 4 * double_lanes <= weight.size(); j += 4 * double_lanes) {
      HWY_UNROLL(4)
      for (size_t u = 0; u < 4; ++u) add(j + u * double_lanes, sum[u]);
    }
    for (; j + double_lanes <= weight.size(); j += double_lanes) add(j, sum[0]);
    for (; j < weight.size(); ++j) rest += double{row[j]} * weight[j];
  }
  const DoubleVec all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return hn::GetLane(hn::SumOfLanes(wide, all)) + rest;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_BIAS_INL_H
