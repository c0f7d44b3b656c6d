// linear for one row: a pass over the weights at the speed of memory.
#if defined(HEADWATER_KERNEL_CPU_LINEAR_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_LINEAR_ROW_INL_H
#undef HEADWATER_KERNEL_CPU_LINEAR_ROW_INL_H
#else
#define HEADWATER_KERNEL_CPU_LINEAR_ROW_INL_H
#endif

#include <algorithm>
#include <span>

#include "headwater/core/parallel.h"
#include "headwater/core/threads.h"
#include "headwater/kernel/cpu/activation-inl.h"
#include "headwater/kernel/cpu/scratch.h"
#include "headwater/kernel/cpu/tile-inl.h"
#include "headwater/kernel/cpu/transpose-inl.h"
#include "headwater/kernel/cpu/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// Where a vector is shorter than a cache line, the next rows are prefetched while these are used:
// the hardware notices too late that they follow. For whole lines it prefetches early enough.
template <class Read>
constexpr bool fetches_ahead = Read::width* lanes < 64;

// sums[i] = row i of a matrix times x, for as many rows as a vector has lanes; rows from `count` on
// do not exist. x is padded with zeros to a whole vector.
//
// Adding vectors of one row would break the order of sums that tile-inl.h promises. So a square of
// numbers, a vector from each row, is transposed in registers; that is faster than the memory.
template <class Read>
HWY_INLINE FloatVec multiply_lanes(const std::byte* rows, std::ptrdiff_t bytes, int count,
                                   int depth, const float* HWY_RESTRICT x) {
  const Floats d;
  const std::byte* row[lanes];
  HWY_UNROLL(16)
  for (int i = 0; i < vector_floats; ++i) row[i] = rows + std::min(i, count - 1) * bytes;
  FloatVec total = hn::Zero(d);
  for (int k = 0; k < depth; k += depth_step) {
    FloatVec sum = hn::Zero(d);
    const int end = std::min(k + depth_step, depth);
    for (int j = k; j < end; j += vector_floats) {
      FloatVec v[lanes];
      const size_t at = static_cast<size_t>(j) * Read::width;
      if (j + vector_floats <= depth) {
        HWY_UNROLL(16)
        for (int i = 0; i < vector_floats; ++i) v[i] = Read::vector(row[i] + at);
        if constexpr (fetches_ahead<Read>) {
          HWY_UNROLL(16)
          for (int i = 0; i < vector_floats; ++i)
            hwy::Prefetch(row[i] + vector_floats * bytes + at);
        }
      } else {
        for (int i = 0; i < vector_floats; ++i)
          v[i] = read_first<Read>(row[i] + at, static_cast<size_t>(depth - j));
      }
      transpose_lanes(v);
      HWY_UNROLL(16)
      for (int i = 0; i < vector_floats; ++i) sum = hn::MulAdd(v[i], hn::Set(d, x[j + i]), sum);
    }
    total = k == 0 ? sum : hn::Add(total, sum);
  }
  return total;
}

// sums[j] += the sum over i < rows of x[i] times row i, `count` numbers each, whole vectors.
template <class Read, int rows>
HWY_INLINE void add_weighted(const std::byte* from, std::ptrdiff_t bytes, int count, const float* x,
                             float* HWY_RESTRICT sums) {
  const Floats d;
  FloatVec weight[rows];
  HWY_UNROLL(8)
  for (int i = 0; i < rows; ++i) weight[i] = hn::Set(d, x[i]);
  for (int j = 0; j < count; j += vector_floats) {
    FloatVec sum = hn::Load(d, sums + j);
    const std::byte* at = from + static_cast<size_t>(j) * Read::width;
    if (j + vector_floats <= count) {
      HWY_UNROLL(8)
      for (int i = 0; i < rows; ++i) sum = hn::MulAdd(Read::vector(at + i * bytes), weight[i], sum);
      if constexpr (fetches_ahead<Read>) {
        HWY_UNROLL(8)
        for (int i = 0; i < rows; ++i) hwy::Prefetch(at + (rows + i) * bytes);
      }
    } else {
      for (int i = 0; i < rows; ++i)
        sum = hn::MulAdd(read_first<Read>(at + i * bytes, static_cast<size_t>(count - j)),
                         weight[i], sum);
    }
    hn::Store(sum, d, sums + j);
  }
}

// total[j] = the sum over k < depth of x[k] times row k; `sums` is for the sections. Both have room
// for whole vectors.
template <class Read>
HWY_INLINE void multiply_down(const std::byte* rows, std::ptrdiff_t bytes, int count, int depth,
                              const float* x, float* HWY_RESTRICT sums, float* HWY_RESTRICT total) {
  const Floats d;
  const int whole = (count + vector_floats - 1) / vector_floats * vector_floats;
  std::fill_n(total, whole, 0.0f);
  for (int k = 0; k < depth; k += depth_step) {
    const int end = std::min(k + depth_step, depth);
    std::fill_n(sums, whole, 0.0f);
    int i = k;
    for (; i + 8 <= end; i += 8) add_weighted<Read, 8>(rows + i * bytes, bytes, count, x + i, sums);
    for (; i < end; ++i) add_weighted<Read, 1>(rows + i * bytes, bytes, count, x + i, sums);
    for (int j = 0; j < whole; j += vector_floats)
      hn::Store(
          k == 0 ? hn::Load(d, sums + j) : hn::Add(hn::Load(d, total + j), hn::Load(d, sums + j)),
          d, total + j);
  }
}

// Makes outputs first ... first + count - 1 from their sums, in whole vectors.
template <class Activate>
HWY_INLINE void finish_row(const Finish& finish, int first, int count, float* sums, float* out) {
  const Floats d;
  for (int j = 0; j < count; j += vector_floats) {
    const auto some = static_cast<size_t>(std::min(count - j, vector_floats));
    const auto load = [&](const float* from) {
      return some == lanes ? hn::LoadU(d, from) : load_first(d, from, some);
    };
    FloatVec v = hn::Load(d, sums + j);
    v = hn::Add(v, finish.bias.empty() ? hn::Zero(d) : load(finish.bias.data() + first + j));
    v = Activate::of(v);
    float* to = out + first + j;
    if (finish.into == Into::add) v = hn::Add(load(to), v);
    if (finish.into == Into::multiply) v = hn::Mul(load(to), v);
    if (some == lanes)
      hn::StoreU(v, d, to);
    else
      store_first(v, to, some);
  }
}

void linear_row(std::span<const float> x, const Weights& weights, const Finish& finish,
                std::span<float> out, bool parallel) {
  // The same number of tasks for each thread, none with too many outputs.
  constexpr int most = 256;
  const int shares = threads() * ((weights.outputs - 1) / (threads() * most) + 1);
  const int share = (weights.outputs - 1) / shares + 1;
  const int task_outputs = (share + vector_floats - 1) / vector_floats * vector_floats;
  const size_t padded = (x.size() + 2 * lanes) / lanes * lanes;
  float* row = scratch(padded);
  std::copy(x.begin(), x.end(), row);
  std::fill(row + x.size(), row + padded, 0.0f);
  const auto task = [&](int t) {
    HWY_ALIGN float sums[most], total[most];
    const int first = t * task_outputs;
    const int count = std::min(task_outputs, weights.outputs - first);
    with_reader(weights.type, [&](auto read) {
      using Read = decltype(read);
      if (weights.input_major) {
        const auto bytes = static_cast<std::ptrdiff_t>(Read::width) * weights.outputs;
        multiply_down<Read>(weight_at<Read>(weights, 0, first), bytes, count, weights.inputs, row,
                            sums, total);
        return;
      }
      const auto bytes = static_cast<std::ptrdiff_t>(Read::width) * weights.inputs;
      for (int o = 0; o < count; o += vector_floats)
        hn::Store(multiply_lanes<Read>(weight_at<Read>(weights, first + o, 0), bytes,
                                       std::min(vector_floats, count - o), weights.inputs, row),
                  Floats(), total + o);
    });
    with_activation(finish.activation, [&](auto activate) {
      finish_row<decltype(activate)>(finish, first, count, total, out.data());
    });
  };
  const int tasks = (weights.outputs + task_outputs - 1) / task_outputs;
  if (parallel) return parallel_for(tasks, task);
  for (int t = 0; t < tasks; ++t) task(t);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_LINEAR_ROW_INL_H
