// The inner loop of every product of the forward pass: twelve rows in their own order, times a
// panel of packed vectors.
//
// The rows were copied, not reordered, to a fixed distance from each other. So one pointer reaches
// all of them, and no two map to the same lines of the cache, however far apart they are in their
// file. The copy is cheap enough to be made for every use, and it converts weights that are not
// floats.
//
// The sum over k is cut into sections of `depth_step`. Each section is summed in order, then the
// sections are added in order, by every loop that computes such a number. So a row has the same
// bits, alone or among others.
#if defined(HEADWATER_KERNEL_CPU_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_TILE_INL_H
#undef HEADWATER_KERNEL_CPU_TILE_INL_H
#else
#define HEADWATER_KERNEL_CPU_TILE_INL_H
#endif

#include <algorithm>
#include <cstddef>

#include "headwater/kernel/cpu/lanes-inl.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

constexpr int tile_rows = 12;
constexpr int depth_step = 384;
// Room for a whole vector after the last number of a row; and no multiple of a page.
constexpr int row_step = depth_step + 16;
constexpr int vector_floats = static_cast<int>(lanes);
// The width in floats of a panel of two vectors.
constexpr int wide_panel = 2 * vector_floats;

// Memory that will be read soon: `rows` rows of `bytes` bytes, `step` apart. A tile prefetches some
// lines of it every few steps, so that they arrive while it computes.
class Soon {
 public:
  Soon() = default;
  Soon(const std::byte* from, std::ptrdiff_t bytes, std::ptrdiff_t step, int rows)
      : at_(from), bytes_(bytes), step_(step), rows_(rows) {}

  // Spreads the prefetches over this many tiles of this depth.
  void within(std::ptrdiff_t tiles, int depth) {
    const std::ptrdiff_t all = rows_ * ((bytes_ + line - 1) / line);
    const std::ptrdiff_t stops = tiles * ((depth + stride - 1) / stride);
    lines_ = stops > 0 ? static_cast<int>((all + stops - 1) / stops) : 0;
  }
  HWY_INLINE void fetch() {
    for (int i = 0; i < lines_ && rows_ > 0; ++i) {
      hwy::Prefetch(at_ + done_);
      done_ += line;
      if (done_ < bytes_) continue;
      done_ = 0;
      at_ += step_;
      --rows_;
    }
  }

  static constexpr int stride = 16;  // steps of k between two stops

 private:
  static constexpr std::ptrdiff_t line = 64;
  const std::byte* at_ = nullptr;
  std::ptrdiff_t bytes_ = 0, step_ = 0, done_ = 0;
  int rows_ = 0, lines_ = 0;
};

// sums(i, j) = (or +=) the sum over k < depth of rows[i * row_step + k] panel[k * width + j], with
// width = vectors * lanes; row i of the sums is at sums + i * step.
template <int rows, int vectors>
HWY_INLINE void sum_tile(const float* HWY_RESTRICT from, const float* HWY_RESTRICT panel, int depth,
                         bool add, float* HWY_RESTRICT sums, std::ptrdiff_t step, Soon* soon) {
  const Floats d;
  FloatVec sum[rows][vectors];
  HWY_UNROLL(12)
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) sum[i][v] = hn::Zero(d);
  for (int k = 0; k < depth;) {
    if (soon != nullptr) soon->fetch();
    for (const int stop = std::min(k + Soon::stride, depth); k < stop; ++k) {
      FloatVec column[vectors];
      for (int v = 0; v < vectors; ++v) column[v] = hn::Load(d, panel + v * vector_floats);
      HWY_UNROLL(12)
      for (int i = 0; i < rows; ++i) {
        const FloatVec one = hn::Set(d, from[i * row_step + k]);
        for (int v = 0; v < vectors; ++v) sum[i][v] = hn::MulAdd(one, column[v], sum[i][v]);
      }
      panel += vectors * vector_floats;
    }
  }
  HWY_UNROLL(12)
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) {
      float* to = sums + i * step + v * vector_floats;
      if (add) sum[i][v] = hn::Add(hn::Load(d, to), sum[i][v]);
      hn::Store(sum[i][v], d, to);
    }
}

// The same for tile_rows rows; they and the sums are aligned to vectors.
template <int vectors>
HWY_INLINE void multiply_rows(const float* rows, const float* panel, int depth, bool add,
                              float* sums, std::ptrdiff_t step, Soon* soon = nullptr) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  sum_tile<tile_rows, vectors>(rows, panel, depth, add, sums, step, soon);
#else
  // Sixteen registers hold the sums of half as many rows by two vectors.
  constexpr int some = tile_rows / vectors;
  for (int i = 0; i < tile_rows; i += some)
    sum_tile<some, vectors>(rows + i * row_step, panel, depth, add, sums + i * step, step, soon);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_TILE_INL_H
