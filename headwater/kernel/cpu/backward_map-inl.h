// Fuses P (x) dP of a head into a row of the map.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_MAP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_MAP_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_MAP_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_MAP_INL_H
#endif

#include <algorithm>
#include <limits>
#include <span>

#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/backward_transpose-inl.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Fuses the map of a head with the heads before it.
template <Reduce reduce>
HWY_INLINE void join_vector(FloatVec v, bool first, int key, std::span<float> map) {
  float* to = map.data() + key;
  const int some = std::min(vector_floats, static_cast<int>(map.size()) - key);
  store_some(first ? v : joined<reduce>(load_some(to, some), v), to, some);
}

template <Reduce reduce>
void join_products(const HeadMap& fused, bool positive, bool first, const ScoreRow& weights,
                   const ScoreRow& slopes, Keys range, std::span<float> map) {
  const Floats d;
  const FloatVec factor = hn::Set(d, fused.weight);
  const FloatVec least = hn::Set(d, positive ? 0 : -std::numeric_limits<float>::infinity());
  for_vectors(weights, range, [&](int key, const float* at) {
    const FloatVec dp = hn::Load(d, slopes.data + (at - weights.data));
    const FloatVec v = hn::Max(least, hn::Mul(hn::Load(d, at), dp));
    join_vector<reduce>(hn::Mul(factor, v), first, key, map);
  });
  if (!first) return;
  std::fill_n(map.begin(), range.begin, 0.0f);
  const int after = down_to(vector_floats, range.end + vector_floats - 1);
  if (after < static_cast<int>(map.size())) std::fill(map.begin() + after, map.end(), 0.0f);
}

// Row r of the map, if it is wanted of head h; keys outside `range` count as 0.
inline void join_products(const HeadMap& fused, bool positive, int h, int r,
                          const ScoreRow& weights, const ScoreRow& slopes, Keys range) {
  const int place = h - fused.first_head;
  if (fused.map.rows() == 0 || place < 0 || place >= fused.count) return;
  const std::span<float> map = fused.map.row(r);
  switch (fused.reduce) {
    case Reduce::sum:
      return join_products<Reduce::sum>(fused, positive, place == 0, weights, slopes, range, map);
    case Reduce::max:
      return join_products<Reduce::max>(fused, positive, place == 0, weights, slopes, range, map);
    case Reduce::min:
      return join_products<Reduce::min>(fused, positive, place == 0, weights, slopes, range, map);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_MAP_INL_H
