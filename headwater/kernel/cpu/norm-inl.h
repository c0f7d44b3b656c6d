// layer_norm and rms_norm: each row by itself, sums in double.
#if defined(HEADWATER_KERNEL_CPU_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_NORM_INL_H
#undef HEADWATER_KERNEL_CPU_NORM_INL_H
#else
#define HEADWATER_KERNEL_CPU_NORM_INL_H
#endif

#include <cmath>
#include <span>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

using DoubleVec = hn::Vec<Doubles>;

// The sum of (x - middle)^power.
template <int power>
HWY_INLINE double sum_of_powers(std::span<const float> row, double middle) {
  const FewFloats d;
  const Doubles wide;
  const DoubleVec away = hn::Set(wide, middle);
  DoubleVec sum[4] = {hn::Zero(wide), hn::Zero(wide), hn::Zero(wide), hn::Zero(wide)};
  const auto add = [&](size_t j, DoubleVec& to) {
    const DoubleVec v = hn::Sub(hn::PromoteTo(wide, hn::LoadU(d, row.data() + j)), away);
    to = power == 1 ? hn::Add(to, v) : hn::MulAdd(v, v, to);
  };
  size_t j = 0;
  for (; j + 4 * double_lanes <= row.size(); j += 4 * double_lanes) {
    HWY_UNROLL(4)
    for (size_t u = 0; u < 4; ++u) add(j + u * double_lanes, sum[u]);
  }
  for (; j + double_lanes <= row.size(); j += double_lanes) add(j, sum[0]);
  double rest = 0;
  for (; j < row.size(); ++j)
    rest += power == 1 ? row[j] - middle : (row[j] - middle) * (row[j] - middle);
  const DoubleVec all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return hn::GetLane(hn::SumOfLanes(wide, all)) + rest;
}

// out = (x - middle) * scale * weight + bias; an empty bias is none.
HWY_INLINE void scale_row(std::span<const float> x, double middle, double scale,
                          std::span<const float> weight, std::span<const float> bias,
                          std::span<float> out) {
  const FewFloats d;
  const Doubles wide;
  const DoubleVec away = hn::Set(wide, middle), factor = hn::Set(wide, scale);
  size_t j = 0;
  for (; j + double_lanes <= x.size(); j += double_lanes) {
    const DoubleVec v = hn::PromoteTo(wide, hn::LoadU(d, x.data() + j));
    const auto normal = hn::DemoteTo(d, hn::Mul(hn::Sub(v, away), factor));
    const auto times = hn::LoadU(d, weight.data() + j);
    const auto plus = bias.empty() ? hn::Zero(d) : hn::LoadU(d, bias.data() + j);
    hn::StoreU(hn::MulAdd(normal, times, plus), d, out.data() + j);
  }
  for (; j < x.size(); ++j)
    out[j] = static_cast<float>((x[j] - middle) * scale * weight[j] +
                                (bias.empty() ? 0.0 : double{bias[j]}));
}

inline void layer_norm(MatrixView x, std::span<const float> weight, std::span<const float> bias,
                       double epsilon, MatrixSpan out) {
  const auto count = static_cast<double>(x.columns());
  for (int t = 0; t < x.rows(); ++t) {
    const double mean = sum_of_powers<1>(x.row(t), 0) / count;
    const double variance = sum_of_powers<2>(x.row(t), mean) / count;
    scale_row(x.row(t), mean, 1 / std::sqrt(variance + epsilon), weight, bias, out.row(t));
  }
}

inline void rms_norm(MatrixView x, std::span<const float> weight, double epsilon, MatrixSpan out) {
  const auto count = static_cast<double>(x.columns());
  for (int t = 0; t < x.rows(); ++t) {
    const double square = sum_of_powers<2>(x.row(t), 0) / count;
    scale_row(x.row(t), 0, 1 / std::sqrt(square + epsilon), weight, {}, out.row(t));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_NORM_INL_H
