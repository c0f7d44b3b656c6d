// attention for one row or a few, as in decoding: keys and values are read once, where they lie.
#if defined(HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#undef HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#else
#define HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/threads.h"
#include "headwater/kernel/cpu/linear_row-inl.h"
#include "headwater/kernel/cpu/query_rows-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

inline const std::byte* bytes_of(const float* numbers) {
  return reinterpret_cast<const std::byte*>(numbers);
}

// The scores of one query against the keys of `range`, which begins on the grid of vectors.
HWY_INLINE void score_row(const float* query, MatrixView keys, Keys range, float* scores) {
  const auto bytes = keys.stride() * static_cast<std::ptrdiff_t>(sizeof(float));
  for (int j = range.begin; j < range.end; j += vector_floats)
    hn::Store(
        multiply_lanes<ReadF32>(bytes_of(keys.row(j).data()), bytes,
                                std::min(vector_floats, range.end - j), keys.columns(), query),
        Floats(), scores + j);
}

inline void attend_few(const Attention& in, MatrixSpan out, const HeadMap& fused, bool threads) {
  const int size = in.queries.columns() / in.heads, keys = in.keys.rows();
  const int padded = down_to(vector_floats, keys + 2 * vector_floats);
  const int padded_size = down_to(vector_floats, size + 2 * vector_floats);
  float* all = scratch(static_cast<size_t>(in.heads) * static_cast<size_t>(padded));
  std::vector<double> totals(static_cast<size_t>(in.heads));
  for (int r = 0; r < in.queries.rows(); ++r) {
    const Keys seen = seen_by(in, r);
    const Keys range{down_to(vector_floats, seen.begin), seen.end};
    const auto scores_of = [&](int h) { return all + std::ptrdiff_t{h} * padded; };
    const auto attend = [&](int h) {
      const int column = h / (in.heads / in.groups) * size;
      float* query = task_scratch(static_cast<size_t>(padded_size) * 3);
      float* sums = query + padded_size;
      float* weighed = sums + padded_size;
      copy_scaled(in.queries.row(r).data() + h * size, in.scale, size, query);
      score_row(query, columns_of(in.keys, column, size), range, scores_of(h));
      const double total = exp_row({scores_of(h), depth_step}, seen, range);
      totals[static_cast<size_t>(h)] = total;
      if (out.rows() == 0) return;
      // Stretches begin where they would for all keys.
      const int begin = down_to(depth_step, range.begin);
      std::fill(scores_of(h) + begin, scores_of(h) + range.begin, 0.0f);
      multiply_down<ReadF32>(bytes_of(in.values.row(begin).data() + column),
                             in.values.stride() * static_cast<std::ptrdiff_t>(sizeof(float)), size,
                             range.end - begin, scores_of(h) + begin, sums, weighed);
      store_scaled(weighed, 1 / total, size, &out(r, h * size));
    };
    if (threads)
      parallel_for(in.heads, attend);
    else
      for (int h = 0; h < in.heads; ++h) attend(h);
    for (int place = 0; place < (fused.map.rows() > 0 ? fused.count : 0); ++place) {
      const int h = fused.first_head + place;
      join_row(fused.reduce, {scores_of(h), depth_step}, range, place == 0,
               static_cast<float>(fused.weight / totals[static_cast<size_t>(h)]), fused.map.row(r));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
