// layer_norm_backward and rms_norm_backward: each row by itself, sums in double.
//
// With z = (x - mean) scale and g = gradient weight: dx = scale (g - mean(g) - z mean(g z)). Only
// the layer norm has the term mean(g), and only the tangent has the term in z.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_NORM_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_NORM_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_NORM_INL_H
#endif

#include <cmath>
#include <span>

#include "headwater/core/matrix.h"
#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

struct NormRow {
  std::span<const float> x, weight, gradient;
  double mean, scale;
};

struct NormSums {
  double gradient, along;  // sums of g and of g z
};

HWY_INLINE NormSums sum_norm(const NormRow& row) {
  const FewFloats d;
  const Doubles wide;
  const DoubleVec away = hn::Set(wide, row.mean);
  DoubleVec sum = hn::Zero(wide), along = hn::Zero(wide);
  size_t j = 0;
  for (; j + double_lanes <= row.x.size(); j += double_lanes) {
    const DoubleVec x = hn::PromoteTo(wide, hn::LoadU(d, row.x.data() + j));
    const DoubleVec g = hn::Mul(hn::PromoteTo(wide, hn::LoadU(d, row.gradient.data() + j)),
                                hn::PromoteTo(wide, hn::LoadU(d, row.weight.data() + j)));
    sum = hn::Add(sum, g);
    along = hn::MulAdd(g, hn::Sub(x, away), along);
  }
  NormSums sums{hn::GetLane(hn::SumOfLanes(wide, sum)), hn::GetLane(hn::SumOfLanes(wide, along))};
  for (; j < row.x.size(); ++j) {
    const double g = double{row.gradient[j]} * row.weight[j];
    sums.gradient += g;
    sums.along += g * (row.x[j] - row.mean);
  }
  sums.along *= row.scale;
  return sums;
}

// dx = (or +=) scale (g - first - z second).
HWY_INLINE void store_gradient(const NormRow& row, double first, double second, bool add,
                               std::span<float> dx) {
  const FewFloats d;
  const Doubles wide;
  const DoubleVec away = hn::Set(wide, row.mean), less = hn::Set(wide, first);
  const DoubleVec slope = hn::Set(wide, second * row.scale), scale = hn::Set(wide, row.scale);
  size_t j = 0;
  for (; j + double_lanes <= row.x.size(); j += double_lanes) {
    const DoubleVec x = hn::PromoteTo(wide, hn::LoadU(d, row.x.data() + j));
    const DoubleVec g = hn::Mul(hn::PromoteTo(wide, hn::LoadU(d, row.gradient.data() + j)),
                                hn::PromoteTo(wide, hn::LoadU(d, row.weight.data() + j)));
    DoubleVec v = hn::Mul(scale, hn::NegMulAdd(hn::Sub(x, away), slope, hn::Sub(g, less)));
    if (add) v = hn::Add(v, hn::PromoteTo(wide, hn::LoadU(d, dx.data() + j)));
    hn::StoreU(hn::DemoteTo(d, v), d, dx.data() + j);
  }
  for (; j < row.x.size(); ++j) {
    const double g = double{row.gradient[j]} * row.weight[j];
    const double v = row.scale * (g - first - (row.x[j] - row.mean) * second * row.scale);
    dx[j] = static_cast<float>(add ? dx[j] + v : v);
  }
}

void layer_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                         MatrixView gradient, Into into, MatrixSpan dx) {
  const auto count = static_cast<double>(x.columns());
  for (int t = 0; t < x.rows(); ++t) {
    const double mean = sum_of_powers<1>(x.row(t), 0) / count;
    const double variance = sum_of_powers<2>(x.row(t), mean) / count;
    const NormRow row{x.row(t), weight, gradient.row(t), mean, 1 / std::sqrt(variance + epsilon)};
    const NormSums sums = sum_norm(row);
    const double along = slope == Slope::tangent ? sums.along / count : 0;
    store_gradient(row, sums.gradient / count, along, into == Into::add, dx.row(t));
  }
}

void rms_norm_backward(MatrixView x, std::span<const float> weight, double epsilon, Slope slope,
                       MatrixView gradient, Into into, MatrixSpan dx) {
  const auto count = static_cast<double>(x.columns());
  for (int t = 0; t < x.rows(); ++t) {
    const double square = sum_of_powers<2>(x.row(t), 0) / count;
    const NormRow row{x.row(t), weight, gradient.row(t), 0, 1 / std::sqrt(square + epsilon)};
    const double along = slope == Slope::tangent ? sum_norm(row).along / count : 0;
    store_gradient(row, 0, along, into == Into::add, dx.row(t));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_NORM_INL_H
