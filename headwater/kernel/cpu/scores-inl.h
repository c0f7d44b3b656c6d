// What happens to a row of scores before the softmax: the cap, distances and buckets.
#if defined(HEADWATER_KERNEL_CPU_SCORES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_SCORES_INL_H
#undef HEADWATER_KERNEL_CPU_SCORES_INL_H
#else
#define HEADWATER_KERNEL_CPU_SCORES_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/activation-inl.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

HWY_INLINE void cap_scores(float cap, const ScoreRow& row, Keys range) {
  const Floats d;
  const FloatVec most = hn::Set(d, cap), over = hn::Set(d, 1 / cap);
  for_vectors(row, range, [&](int, float* at) {
    const FloatVec score = hn::Load(d, at);
    const FloatVec capped = hn::Mul(most, tanh_of(hn::Mul(score, over)));
    hn::Store(hn::IfThenElse(hn::IsNaN(score), score, capped), d, at);
  });
}

// Adds what the distances between row r and the keys add to their scores.
HWY_INLINE void add_distances(const Attention& in, int h, int r, const ScoreRow& row, Keys range) {
  const Floats d;
  const int keys = in.keys.rows();
  const float* first = in.distances.row(h).data() + keys - 1 - (in.sight.first + r);  // of key 0
  for_vectors(row, range, [&](int key, float* at) {
    const FloatVec more = key + vector_floats <= keys
                              ? hn::LoadU(d, first + key)
                              : load_first(d, first + key, static_cast<size_t>(keys - key));
    hn::Store(hn::Add(hn::Load(d, at), more), d, at);
  });
}

// visit(key, column) for the keys of `range`: the column of the bucket of its distance to row r.
template <class Visit>
HWY_INLINE void for_buckets(const Attention& in, int h, int r, Keys range, const Visit& visit) {
  const int first = h * in.buckets.count;
  const int* of = in.buckets.of.data() + in.keys.rows() - 1 - (in.sight.first + r);  // of key 0
  for (int key = range.begin; key < range.end; ++key) visit(key, first + of[key]);
}

HWY_INLINE void add_buckets(const Attention& in, int h, int r, const ScoreRow& row, Keys range) {
  const Buckets& buckets = in.buckets;
  if (buckets.queries.rows() > 0) {
    const float* more = buckets.queries.row(r).data();
    for_buckets(in, h, r, range,
                [&](int key, int column) { row.data[score_place(row.part, key)] += more[column]; });
  }
  if (buckets.keys.rows() > 0)
    for_buckets(in, h, r, range, [&](int key, int column) {
      row.data[score_place(row.part, key)] += buckets.keys(key, column);
    });
}

// All of these, for the keys of `range`, which is a part of all keys.
HWY_INLINE void finish_scores(const Attention& in, int h, int r, const ScoreRow& row, Keys range) {
  if (in.cap != 0) cap_scores(in.cap, row, range);
  if (in.distances.rows() > 0) add_distances(in, h, r, row, range);
  if (in.buckets.count > 0) add_buckets(in, h, r, row, range);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_SCORES_INL_H
