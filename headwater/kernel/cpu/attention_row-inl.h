// attention for one row or a few, as in decoding: keys and values are read once, without a copy.
#if defined(HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#undef HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#else
#define HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
#endif

#include <algorithm>
#include <vector>

#include "headwater/core/parallel.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/cpu/linear_row-inl.h"
#include "headwater/kernel/cpu/query_rows-inl.h"
#include "headwater/kernel/cpu/scores-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Heads first ... end - 1.
struct Heads {
  int first = 0, end = 0;
};

inline const std::byte* bytes_of(const float* numbers) {
  return reinterpret_cast<const std::byte*>(numbers);
}

// One row of the queries. It takes a few heads at a time through the keys and then through the
// values, so that both are read row by row.
class QueryRow {
 public:
  QueryRow(const Attention& attention, int r)
      : in_(attention),
        r_(r),
        size_(attention.queries.columns() / attention.heads),
        seen_(seen_by(attention, r)),
        range_{down_to(vector_floats, seen_.begin), seen_.end} {}

  Keys range() const { return range_; }
  // What scores() and numbers() take for each head.
  static int room_for(int count) { return down_to(vector_floats, count + 2 * vector_floats); }

  // Row h of `scores` becomes exp(score - largest), totals[h] its sum. `queries` has room for the
  // heads' numbers.
  void score(Heads heads, float* queries, float* scores, double* totals) const {
    const int room = room_for(size_), key_room = room_for(in_.keys.rows());
    const auto bytes = in_.keys.stride() * static_cast<std::ptrdiff_t>(sizeof(float));
    for (int h = heads.first; h < heads.end; ++h)
      copy_scaled(in_.queries.row(r_).data() + h * size_, in_.scale, size_,
                  queries + (h - heads.first) * room);
    for (int j = range_.begin; j < range_.end; j += vector_floats)
      for (int h = heads.first; h < heads.end; ++h)
        hn::Store(multiply_lanes<ReadF32>(bytes_of(in_.keys.row(j).data() + column_of(h)), bytes,
                                          std::min(vector_floats, range_.end - j), size_,
                                          queries + (h - heads.first) * room),
                  Floats(), scores + std::ptrdiff_t{h} * key_room + j);
    for (int h = heads.first; h < heads.end; ++h) {
      const ScoreRow row{scores + std::ptrdiff_t{h} * key_room, depth_step};
      finish_scores(in_, h, r_, row, range_);
      totals[h] = exp_row(row, seen_, range_);
    }
  }

  // The sums over the keys of weight times value. `sums` and `all` have room for the heads'
  // numbers.
  void weigh(Heads heads, const float* scores, const double* totals, float* sums, float* all,
             float* out) const {
    const Floats d;
    const int room = room_for(size_), key_room = room_for(in_.keys.rows());
    const int floats = (heads.end - heads.first) * room;
    const auto bytes = in_.values.stride() * static_cast<std::ptrdiff_t>(sizeof(float));
    const auto add = [&](auto count, int j) {
      for (int h = heads.first; h < heads.end; ++h)
        add_weighted<ReadF32, count>(bytes_of(in_.values.row(j).data() + column_of(h)), bytes,
                                     size_, scores + std::ptrdiff_t{h} * key_room + j,
                                     sums + (h - heads.first) * room);
    };
    std::fill_n(all, floats, 0.0f);
    for (int j = range_.begin; j < range_.end;) {
      const int stop = std::min(range_.end, down_to(depth_step, j) + depth_step);
      std::fill_n(sums, floats, 0.0f);
      for (; j + 8 <= stop; j += 8) add(std::integral_constant<int, 8>(), j);
      for (; j < stop; ++j) add(std::integral_constant<int, 1>(), j);
      for (int i = 0; i < floats; i += vector_floats)
        hn::Store(hn::Add(hn::Load(d, all + i), hn::Load(d, sums + i)), d, all + i);
    }
    for (int h = heads.first; h < heads.end; ++h)
      store_scaled(all + (h - heads.first) * room, 1 / totals[h], size_, out + h * size_);
  }

 private:
  int column_of(int h) const { return h / (in_.heads / in_.groups) * size_; }

  const Attention& in_;
  int r_, size_;
  Keys seen_, range_;
};

inline void attend_few(const Attention& in, MatrixSpan out, const HeadMap& fused, bool parallel) {
  const int size = in.queries.columns() / in.heads;
  const int room = QueryRow::room_for(size), key_room = QueryRow::room_for(in.keys.rows());
  float* scores = scratch(static_cast<size_t>(in.heads) * static_cast<size_t>(key_room));
  std::vector<double> totals(static_cast<size_t>(in.heads));
  const int tasks = std::min(in.heads, 2 * threads());
  for (int r = 0; r < in.queries.rows(); ++r) {
    const QueryRow row(in, r);
    const auto attend = [&](int task) {
      const Heads heads{in.heads * task / tasks, in.heads * (task + 1) / tasks};
      const auto floats = static_cast<size_t>(heads.end - heads.first) * static_cast<size_t>(room);
      float* first = task_scratch(2 * floats);
      row.score(heads, first, scores, totals.data());
      if (out.rows() > 0)
        row.weigh(heads, scores, totals.data(), first, first + floats, out.row(r).data());
    };
    if (parallel)
      parallel_for(tasks, attend);
    else
      for (int task = 0; task < tasks; ++task) attend(task);
    for (int place = 0; place < (fused.map.rows() > 0 ? fused.count : 0); ++place) {
      const int h = fused.first_head + place;
      join_row(fused.reduce, {scores + std::ptrdiff_t{h} * key_room, depth_step}, row.range(),
               place == 0, static_cast<float>(fused.weight / totals[static_cast<size_t>(h)]),
               fused.map.row(r));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ATTENTION_ROW_INL_H
