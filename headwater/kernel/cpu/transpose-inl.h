// Small transposes, which bring the numbers of a column into a vector.
#if defined(HEADWATER_KERNEL_CPU_TRANSPOSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_TRANSPOSE_INL_H
#undef HEADWATER_KERNEL_CPU_TRANSPOSE_INL_H
#else
#define HEADWATER_KERNEL_CPU_TRANSPOSE_INL_H
#endif

#include <cstddef>

#include "headwater/kernel/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Four numbers, or one if vectors hold no more.
using Four = hn::CappedTag<float, 4>;
constexpr int four = static_cast<int>(hn::MaxLanes(Four()));

// v[k] has from[i * stride + k] in lane i.
HWY_INLINE void load_transposed(const float* HWY_RESTRICT from, std::ptrdiff_t stride,
                                hn::Vec<Four>* v) {
  const Four d;
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(stride);
  v[0] = hn::LoadU(d, from);
#else
  const hn::Repartition<double, Four> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
#endif
}

// to[k * step + i] = from[i * stride + k] for 4 x 4 numbers.
HWY_INLINE void transpose_four(const float* HWY_RESTRICT from, std::ptrdiff_t stride,
                               float* HWY_RESTRICT to, std::ptrdiff_t step) {
#if HWY_TARGET == HWY_SCALAR
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i) to[k * step + i] = from[i * stride + k];
#else
  hn::Vec<Four> v[4];
  load_transposed(from, stride, v);
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k) hn::StoreU(v[k], Four(), to + k * step);
#endif
}

#if HWY_TARGET != HWY_SCALAR
// Four vectors of rows, each block of four numbers transposed on its own.
HWY_INLINE void transpose_in_blocks(FloatVec* v) {
  const Floats d;
  const hn::Repartition<double, Floats> pairs;
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}
#endif

// v[k] lane i becomes what v[i] lane k was, for as many vectors as a vector has lanes.
HWY_INLINE void transpose_lanes(FloatVec* v) {
#if HWY_TARGET == HWY_SCALAR
  static_cast<void>(v);
#else
  const Floats d;
  HWY_UNROLL(4)
  for (size_t i = 0; i < lanes; i += 4) transpose_in_blocks(v + i);
  // Now v[4 a + b] holds numbers 4 c + b of rows 4 a ... 4 a + 3 in its block c; blocks move on.
  if constexpr (lanes == 8) {
    HWY_UNROLL(4)
    for (int b = 0; b < 4; ++b) {
      const FloatVec first = v[b], second = v[b + 4];
      v[b] = hn::ConcatLowerLower(d, second, first);
      v[b + 4] = hn::ConcatUpperUpper(d, second, first);
    }
  } else if constexpr (lanes == 16) {
    HWY_UNROLL(4)
    for (int b = 0; b < 4; ++b) {
      const FloatVec even01 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[b + 4]), v[b]);
      const FloatVec odd01 = hn::OddEvenBlocks(v[b + 4], hn::SwapAdjacentBlocks(v[b]));
      const FloatVec even23 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[b + 12]), v[b + 8]);
      const FloatVec odd23 = hn::OddEvenBlocks(v[b + 12], hn::SwapAdjacentBlocks(v[b + 8]));
      v[b] = hn::ConcatLowerLower(d, even23, even01);
      v[b + 4] = hn::ConcatLowerLower(d, odd23, odd01);
      v[b + 8] = hn::ConcatUpperUpper(d, even23, even01);
      v[b + 12] = hn::ConcatUpperUpper(d, odd23, odd01);
    }
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_TRANSPOSE_INL_H
