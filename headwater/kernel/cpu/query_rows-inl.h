// Copies rows of queries into tiles, and results of attention out of them.
#if defined(HEADWATER_KERNEL_CPU_QUERY_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_QUERY_ROWS_INL_H
#undef HEADWATER_KERNEL_CPU_QUERY_ROWS_INL_H
#else
#define HEADWATER_KERNEL_CPU_QUERY_ROWS_INL_H
#endif

#include <type_traits>

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/softmax-inl.h"
#include "headwater/kernel/cpu/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

inline MatrixView columns_of(MatrixView x, int first, int count) {
  return {x.data() + first, x.rows(), count, x.stride()};
}

// to = from * scale, whole vectors: `to` has room for the last one, which is padded with zeros.
HWY_INLINE void copy_scaled(const float* from, float scale, int count, float* HWY_RESTRICT to) {
  const Floats d;
  const FloatVec factor = hn::Set(d, scale);
  int j = 0;
  for (; j + vector_floats <= count; j += vector_floats)
    hn::Store(hn::Mul(hn::LoadU(d, from + j), factor), d, to + j);
  if (j < count)
    hn::Store(hn::Mul(load_first(d, from + j, static_cast<size_t>(count - j)), factor), d, to + j);
}

// to = from * scale for whole vectors of `from` and `count` numbers of `to`.
HWY_INLINE void store_scaled(const float* from, double scale, int count, float* HWY_RESTRICT to) {
  const Floats d;
  const FloatVec factor = hn::Set(d, static_cast<float>(scale));
  for (int j = 0; j < count; j += vector_floats) {
    const FloatVec v = hn::Mul(hn::Load(d, from + j), factor);
    if (j + vector_floats <= count)
      hn::StoreU(v, d, to + j);
    else
      store_first(v, to + j, static_cast<size_t>(count - j));
  }
}

// Some rows of the queries.
struct QueryBlock {
  int first, count;
  Keys range;  // all keys that any of the rows sees, from the grid of panels on
  // Including the rows that only pad the last tile.
  int rows() const { return (count + tile_rows - 1) / tile_rows * tile_rows; }
};

template <class Multiply>
HWY_INLINE void with_width(int width, const Multiply& multiply) {
  if (width == wide_panel)
    multiply(std::integral_constant<int, 2>());
  else
    multiply(std::integral_constant<int, 1>());
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_QUERY_ROWS_INL_H
