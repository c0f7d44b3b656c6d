// Packing for multiply: copies both operands into panels, in the order in which the inner loop
// reads them, without the zeros at both ends of every panel.
#if defined(HEADWATER_KERNEL_CPU_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_PACK_INL_H
#undef HEADWATER_KERNEL_CPU_PACK_INL_H
#else
#define HEADWATER_KERNEL_CPU_PACK_INL_H
#endif

#include <algorithm>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The part of a panel that is not all zero, in steps k of the sum; [begin, end), empty where begin
// >= end.
struct Band {
  int begin = 0, end = 0;
};

HWY_INLINE bool all_zero(const float* from, int count) {
  const Floats d;
  int j = 0;
  constexpr int step = static_cast<int>(lanes);
  FloatVec any = hn::Zero(d);
  // The Or of the bits is 0 or -0 only if every number is.
  for (; j + step <= count; j += step) any = hn::Or(any, hn::LoadU(d, from + j));
  if (!hn::AllTrue(d, hn::Eq(any, hn::Zero(d)))) return false;
  for (; j < count; ++j)
    if (from[j] != 0) return false;
  return true;
}

// Where the rows of a (some of them, columns 0 ... depth - 1) begin and end. A full row is
// found at once; in other rows the search reads only zeros, which then need no packing.
HWY_INLINE Band band_of_rows(MatrixView a, int depth) {
  constexpr int step = 16;
  Band band{depth, 0};
  for (int i = 0; i < a.rows(); ++i) {
    const float* row = a.row(i).data();
    int begin = 0;
    while (begin + step <= band.begin && all_zero(row + begin, step)) begin += step;
    while (begin < band.begin && row[begin] == 0) ++begin;
    band.begin = begin;
    int end = depth;
    while (end - step >= band.end && all_zero(row + end - step, step)) end -= step;
    while (end > band.end && row[end - 1] == 0) --end;
    band.end = end;
  }
  return band;
}

// The same for columns j ... j + width - 1 of b, rows 0 ... depth - 1.
HWY_INLINE Band band_of_columns(const float* b, std::ptrdiff_t stride, int width, int depth) {
  Band band{0, depth};
  while (band.begin < depth && all_zero(b + band.begin * stride, width)) ++band.begin;
  while (band.end > band.begin && all_zero(b + (band.end - 1) * stride, width)) --band.end;
  return band;
}

// to[k * height + i] = a(i, k) for k in the band; rows that a does not have are zero.
template <int height>
void pack_rows(MatrixView a, Band band, float* HWY_RESTRICT to) {
  int k = band.begin;
  if (a.rows() == height) {
    for (; k + 4 <= band.end; k += 4) {
      // Four rows at a time; the last four overlap the ones before if height % 4 != 0.
      HWY_UNROLL(4)
      for (int i = 0; i < height; i += 4) {
        const int row = i + 4 <= height ? i : height - 4;
        transpose_four(a.data() + row * a.stride() + k, a.stride(), to + k * height + row, height);
      }
    }
  }
  for (; k < band.end; ++k) {
    for (int i = 0; i < a.rows(); ++i) to[k * height + i] = a(i, k);
    for (int i = a.rows(); i < height; ++i) to[k * height + i] = 0;
  }
}

// to[k * (2 * lanes) + j] = b(k, j) for k in the band and j < width; zero in the other columns.
HWY_INLINE void pack_columns(const float* HWY_RESTRICT b, std::ptrdiff_t stride, int width,
                             Band band, float* HWY_RESTRICT to) {
  const Floats d;
  constexpr int panel = static_cast<int>(2 * lanes);
  for (int k = band.begin; k < band.end; ++k) {
    const float* from = b + k * stride;
    float* row = to + k * panel;
    if (width == panel) {
      hn::Store(hn::LoadU(d, from), d, row);
      hn::Store(hn::LoadU(d, from + lanes), d, row + lanes);
    } else {
      std::copy_n(from, width, row);
      std::fill(row + width, row + panel, 0.0f);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_PACK_INL_H
