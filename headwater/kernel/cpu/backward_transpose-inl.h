// Transposes matrices square by square, for those products of attention's derivative that sum over
// rows.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_TRANSPOSE_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_TRANSPOSE_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_TRANSPOSE_INL_H
#endif

#include <algorithm>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// `some` numbers of a row, at most a vector of them.
HWY_INLINE FloatVec load_some(const float* from, int some) {
  return some == vector_floats ? hn::LoadU(Floats(), from)
                               : load_first(Floats(), from, static_cast<size_t>(some));
}

HWY_INLINE void store_some(FloatVec v, float* to, int some) {
  if (some == vector_floats)
    hn::StoreU(v, Floats(), to);
  else
    store_first(v, to, static_cast<size_t>(some));
}

// to[k * row_step + t] = scale * x(t, k), at most depth_step rows; zeros up to a whole vector of
// rows, and for columns up to a multiple of tile_rows.
HWY_INLINE void transpose_rows(MatrixView x, float scale, float* HWY_RESTRICT to) {
  const Floats d;
  const FloatVec factor = hn::Set(d, scale);
  const int rows = x.rows(), columns = x.columns();
  for (int t = 0; t < rows; t += vector_floats) {
    const int count = std::min(vector_floats, rows - t);
    for (int k = 0; k < columns; k += vector_floats) {
      const int some = std::min(vector_floats, columns - k);
      FloatVec v[lanes];
      for (int i = 0; i < vector_floats; ++i)
        v[i] = i < count ? hn::Mul(load_some(x.row(t + i).data() + k, some), factor) : hn::Zero(d);
      transpose_lanes(v);
      for (int i = 0; i < some; ++i) hn::Store(v[i], d, to + (k + i) * row_step + t);
    }
    for (int k = columns; k % tile_rows != 0; ++k) hn::Store(hn::Zero(d), d, to + k * row_step + t);
  }
}

// out(first + i, k) = (or +=) sums[k * width + i] for i < count, k < out.columns().
HWY_INLINE void add_transposed(const float* sums, int width, int first, int count, bool add,
                               MatrixSpan out) {
  const Floats d;
  for (int i = 0; i < count; i += vector_floats) {
    const int keys = std::min(vector_floats, count - i);
    for (int k = 0; k < out.columns(); k += vector_floats) {
      const int some = std::min(vector_floats, out.columns() - k);
      FloatVec v[lanes];
      for (int c = 0; c < vector_floats; ++c)
        v[c] = c < some ? hn::Load(d, sums + (k + c) * width + i) : hn::Zero(d);
      transpose_lanes(v);
      for (int j = 0; j < keys; ++j) {
        float* to = out.row(first + i + j).data() + k;
        store_some(add ? hn::Add(load_some(to, some), v[j]) : v[j], to, some);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_TRANSPOSE_INL_H
