// Makes weights from a row of scores, and a row of the map from the weights of several heads.
#if defined(HEADWATER_KERNEL_CPU_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_SOFTMAX_INL_H
#undef HEADWATER_KERNEL_CPU_SOFTMAX_INL_H
#else
#define HEADWATER_KERNEL_CPU_SOFTMAX_INL_H
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/kernel/cpu/exp-inl.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Keys begin ... end - 1.
struct Keys {
  int begin = 0, end = 0;
};

// What the query of row r sees.
inline Keys seen_by(const Attention& attention, int r) {
  const Sight& sight = attention.sight;
  const int place = sight.first + r, end = sight.causal ? place + 1 : attention.keys.rows();
  if (sight.window == 0) return {0, end};
  return {std::max(0, place - sight.window + 1), std::min(end, place + sight.window)};
}

inline int down_to(int step, int j) { return j / step * step; }

// Rows of scores are stored in sections of depth_step keys. A section starts `part` floats after
// the one before and has room for whole vectors.
HWY_INLINE std::ptrdiff_t score_place(std::ptrdiff_t part, int key) {
  return key / depth_step * part + key % depth_step;
}
struct ScoreRow {
  float* data;
  std::ptrdiff_t part;
};

// visit(key, place) for the vectors of `range`, which start at multiples of a vector: at both ends
// they may hold keys outside the range.
template <class Visit>
HWY_INLINE void for_vectors(const ScoreRow& row, Keys range, const Visit& visit) {
  for (int key = down_to(vector_floats, range.begin); key < range.end;) {
    const int stop = std::min(range.end, down_to(depth_step, key) + depth_step);
    float* at = row.data + score_place(row.part, key);
    for (; key < stop; key += vector_floats, at += vector_floats) visit(key, at);
  }
}

// Replaces the scores of the keys that are seen by exp(score - largest), all others of `range` by
// 0. Returns the sum. The order of the additions depends only on the positions of the keys. If a
// score is NaN the sum is 0, so that a division by it gives no number.
HWY_INLINE double exp_row(const ScoreRow& row, Keys seen, Keys range) {
  const Floats d;
  const auto inside = [&](int key) {
    const FloatVec place = hn::Iota(d, static_cast<float>(key));
    return hn::And(hn::Ge(place, hn::Set(d, static_cast<float>(seen.begin))),
                   hn::Lt(place, hn::Set(d, static_cast<float>(seen.end))));
  };
  const auto whole = [&](int key) { return key >= seen.begin && key + vector_floats <= seen.end; };
  const FloatVec none = hn::Set(d, -std::numeric_limits<float>::infinity());
  FloatVec most = none;
  auto wrong = hn::IsNaN(none);
  for_vectors(row, seen, [&](int key, const float* at) {
    FloatVec v = hn::Load(d, at);
    if (!whole(key)) v = hn::IfThenElse(inside(key), v, none);
    most = hn::Max(most, v);
    wrong = hn::Or(wrong, hn::IsNaN(v));
  });
  const FloatVec largest =
      hn::AllFalse(d, wrong) ? hn::MaxOfLanes(d, most) : hn::Set(d, std::nanf(""));
  double total = 0;
  for (int key = range.begin; key < range.end; key = down_to(depth_step, key) + depth_step) {
    FloatVec sum = hn::Zero(d);
    const Keys part{key, std::min(range.end, down_to(depth_step, key) + depth_step)};
    for_vectors(row, part, [&](int key, float* at) {
      FloatVec v = exp_of(hn::Sub(hn::Load(d, at), largest));
      if (!whole(key)) v = hn::IfThenElseZero(inside(key), v);
      sum = hn::Add(sum, v);
      hn::Store(v, d, at);
    });
    total += double{hn::GetLane(hn::SumOfLanes(d, sum))};
  }
  return total;
}

template <Reduce reduce>
HWY_INLINE FloatVec joined(FloatVec old, FloatVec v) {
  if constexpr (reduce == Reduce::sum) return hn::Add(old, v);
  if constexpr (reduce == Reduce::max) return hn::Max(old, v);
  if constexpr (reduce == Reduce::min) return hn::Min(old, v);
}

template <Reduce reduce>
void join_row(const ScoreRow& row, Keys range, bool first, float weight, std::span<float> map) {
  const Floats d;
  const FloatVec factor = hn::Set(d, weight);
  const int end = static_cast<int>(map.size());
  for_vectors(row, range, [&](int key, const float* at) {
    const FloatVec v = hn::Mul(hn::Load(d, at), factor);
    float* to = map.data() + key;
    if (key + vector_floats <= end) {
      hn::StoreU(first ? v : joined<reduce>(hn::LoadU(d, to), v), d, to);
    } else {
      const auto some = static_cast<size_t>(end - key);
      store_first(first ? v : joined<reduce>(load_first(d, to, some), v), to, some);
    }
  });
  if (!first) return;
  std::fill_n(map.begin(), range.begin, 0.0f);
  const int after = down_to(vector_floats, range.end + vector_floats - 1);
  if (after < end) std::fill(map.begin() + after, map.end(), 0.0f);
}

// Fuses weight times the row of scores into the row of the map. Keys outside `range`, which begins
// at a multiple of a vector, count as 0.
inline void join_row(Reduce reduce, const ScoreRow& row, Keys range, bool first, float weight,
                     std::span<float> map) {
  switch (reduce) {
    case Reduce::sum:
      return join_row<Reduce::sum>(row, range, first, weight, map);
    case Reduce::max:
      return join_row<Reduce::max>(row, range, first, weight, map);
    case Reduce::min:
      return join_row<Reduce::min>(row, range, first, weight, map);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_SOFTMAX_INL_H
