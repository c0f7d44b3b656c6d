// add_rows: a row vector times some rows. It takes eight rows at a time: `out` is read and written
// once for eight rows of the matrix, and each row is a stream that the machine can prefetch.
#if defined(HEADWATER_KERNEL_CPU_ADD_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ADD_ROWS_INL_H
#undef HEADWATER_KERNEL_CPU_ADD_ROWS_INL_H
#else
#define HEADWATER_KERNEL_CPU_ADD_ROWS_INL_H
#endif

#include <algorithm>

#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/maps.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// out += weights * rows, for `count` rows at once.
template <int count>
void add_some_rows(const float* weights, MatrixView rows, int first, std::span<float> out) {
  const Floats d;
  const float* from[count];
  FloatVec weight[count];
  HWY_UNROLL(8)
  for (int r = 0; r < count; ++r) {
    from[r] = rows.row(first + r).data();
    weight[r] = hn::Set(d, weights[first + r]);
  }
  float* HWY_RESTRICT to = out.data();
  size_t j = 0;
  for (; j + lanes <= out.size(); j += lanes) {
    FloatVec sum = hn::LoadU(d, to + j);
    HWY_UNROLL(8)
    for (int r = 0; r < count; ++r) sum = hn::MulAdd(weight[r], hn::LoadU(d, from[r] + j), sum);
    hn::StoreU(sum, d, to + j);
  }
  for (; j < out.size(); ++j)
    for (int r = 0; r < count; ++r) to[j] += weights[first + r] * from[r][j];
}

void add_rows(std::span<const float> weights, MatrixView rows, std::span<float> out) {
  const auto nothing = [&](int first, int count) {
    return std::all_of(weights.begin() + first, weights.begin() + first + count,
                       [](float weight) { return weight == 0; });
  };
  std::fill(out.begin(), out.end(), 0.0f);
  int r = 0;
  for (; r + 8 <= rows.rows(); r += 8)
    if (!nothing(r, 8)) add_some_rows<8>(weights.data(), rows, r, out);
  for (; r < rows.rows(); ++r)
    if (!nothing(r, 1)) add_some_rows<1>(weights.data(), rows, r, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ADD_ROWS_INL_H
