// prepare_rows: threshold, residual and division of a row. The first pass sums it, the second
// writes it; the row stays in the first-level cache between the two.
#if defined(HEADWATER_KERNEL_CPU_PREPARE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_PREPARE_INL_H
#undef HEADWATER_KERNEL_CPU_PREPARE_INL_H
#else
#define HEADWATER_KERNEL_CPU_PREPARE_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/maps.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> kept(D d, hn::Vec<D> v, float threshold) {
  return hn::IfThenElseZero(hn::Ge(v, hn::Set(d, threshold)), v);
}

double sum_of_kept(const float* HWY_RESTRICT row, size_t count, float threshold) {
  const FewFloats d;
  const Doubles wide;
  hn::Vec<Doubles> sum[4] = {hn::Zero(wide), hn::Zero(wide), hn::Zero(wide), hn::Zero(wide)};
  size_t j = 0;
  for (; j + 4 * double_lanes <= count; j += 4 * double_lanes) {
    HWY_UNROLL(4)
    for (size_t u = 0; u < 4; ++u) {
      const auto v = kept(d, hn::LoadU(d, row + j + u * double_lanes), threshold);
      sum[u] = hn::Add(sum[u], hn::PromoteTo(wide, v));
    }
  }
  for (; j + double_lanes <= count; j += double_lanes)
    sum[0] = hn::Add(sum[0], hn::PromoteTo(wide, kept(d, hn::LoadU(d, row + j), threshold)));
  double rest = 0;
  for (; j < count; ++j) rest += row[j] < threshold ? 0.0f : row[j];
  const auto all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return hn::GetLane(hn::SumOfLanes(wide, all)) + rest;
}

void scale_kept(float* HWY_RESTRICT row, size_t count, float threshold, float scale) {
  const Floats d;
  const FloatVec factor = hn::Set(d, scale);
  size_t j = 0;
  for (; j + lanes <= count; j += lanes)
    hn::StoreU(hn::Mul(kept(d, hn::LoadU(d, row + j), threshold), factor), d, row + j);
  for (; j < count; ++j) row[j] = row[j] < threshold ? 0.0f : row[j] * scale;
}

int prepare_rows(MatrixSpan rows, int first, const RowStep& step) {
  int empty = 0;
  for (int r = 0; r < rows.rows(); ++r) {
    float* row = rows.row(r).data();
    const size_t count = rows.row(r).size();
    double scale = 1 - step.residual;
    double diagonal = step.residual;
    if (step.divide) {
      // The sum after the residual follows from the sum before it, so one pass is enough.
      const double total = scale * sum_of_kept(row, count, step.threshold) + diagonal;
      if (total == 0) {
        ++empty;
        std::fill_n(row, count, 0.0f);
        if (step.empty_keeps) row[first + r] = 1;
        continue;
      }
      scale /= total;
      diagonal /= total;
    }
    const float before = row[first + r] < step.threshold ? 0.0f : row[first + r];
    if (scale > 1e30 || scale < 1e-30) {
      // No softmax has such a sum: as a float the factor would overflow or lose digits.
      for (size_t j = 0; j < count; ++j)
        row[j] = row[j] < step.threshold ? 0.0f : static_cast<float>(row[j] * scale);
    } else if (step.threshold > 0 || scale != 1) {
      scale_kept(row, count, step.threshold, static_cast<float>(scale));
    }
    if (diagonal > 0) row[first + r] = static_cast<float>(before * scale + diagonal);
  }
  return empty;
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_PREPARE_INL_H
