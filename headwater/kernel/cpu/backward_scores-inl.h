// The derivatives of what happens to scores before the softmax: the cap and the buckets.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_SCORES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_SCORES_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_SCORES_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_SCORES_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/backward_activation-inl.h"
#include "headwater/kernel/cpu/panel-inl.h"
#include "headwater/kernel/cpu/scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Keeps the slopes of the cap, `after` floats after the scores.
HWY_INLINE void keep_cap(const Attention& in, Slope slope, const ScoreRow& scores, Keys range,
                         std::ptrdiff_t after) {
  const Floats d;
  const FloatVec over = hn::Set(d, 1 / in.cap);
  for_vectors(scores, range, [&](int, float* at) {
    const FloatVec x = hn::Mul(hn::Load(d, at), over);
    hn::Store(
        slope == Slope::tangent ? tangent_of<Activation::tanh>(x) : secant_of<Activation::tanh>(x),
        d, at + after);
  });
}

// The sums of dS over the keys of each bucket, for row r of the queries.
HWY_INLINE void add_to_query(const Attention& in, float factor, int h, int r,
                             const ScoreRow& slopes, Keys range, MatrixSpan out) {
  const int count = in.buckets.count;
  float* sums = out.row(r).data();
  std::fill_n(sums + std::ptrdiff_t{h} * count, count, 0.0f);
  for_buckets(in, h, r, range, [&](int key, int column) {
    sums[column] += factor * slopes.data[score_place(slopes.part, key)];
  });
}

// The same over rows first ... first + count - 1, for the keys of a panel; `slopes` has a row of
// the panel's width for each. The first rows set the sums, later ones add to them.
HWY_INLINE void add_to_keys(const Attention& in, float factor, int h, int first, int count,
                            bool add, const float* slopes, const PackedPanel& panel,
                            MatrixSpan out) {
  const Keys range{panel.first, panel.first + panel.count};
  const int buckets = in.buckets.count;
  for (int key = range.begin; !add && key < range.end; ++key)
    std::fill_n(out.row(key).data() + std::ptrdiff_t{h} * buckets, buckets, 0.0f);
  for (int r = 0; r < count; ++r)
    for_buckets(in, h, first + r, range, [&](int key, int column) {
      out(key, column) += factor * slopes[std::ptrdiff_t{r} * panel.width + key - panel.first];
    });
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_SCORES_INL_H
