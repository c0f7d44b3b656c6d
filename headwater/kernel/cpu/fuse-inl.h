// fuse_rows: fuses heads into the map, in one pass that also sums and checks their rows.
//
// Reading the heads takes the time, so everything else must hide behind it. Several heads are read
// at once, row by row: the row of the map stays in registers and the first-level cache, and the
// memory sees a few long streams with hardly a write between them. One head after the other over a
// block of rows looks as good but runs at half the speed of memory.
#if defined(HEADWATER_KERNEL_CPU_FUSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FUSE_INL_H
#undef HEADWATER_KERNEL_CPU_FUSE_INL_H
#else
#define HEADWATER_KERNEL_CPU_FUSE_INL_H
#endif

#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/maps.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The start value of a reduction, and one step of it.
struct JoinSum {
  static constexpr float start = 0;
  static HWY_INLINE FloatVec join(FloatVec old, FloatVec weight, FloatVec head) {
    return hn::MulAdd(weight, head, old);
  }
};
struct JoinMax {
  static constexpr float start = -std::numeric_limits<float>::infinity();
  static HWY_INLINE FloatVec join(FloatVec old, FloatVec weight, FloatVec head) {
    return hn::Max(old, hn::Mul(weight, head));
  }
};
struct JoinMin {
  static constexpr float start = std::numeric_limits<float>::infinity();
  static HWY_INLINE FloatVec join(FloatVec old, FloatVec weight, FloatVec head) {
    return hn::Min(old, hn::Mul(weight, head));
  }
};

// Fuses one vector of `heads` rows with `old`. Invalid weights show in one of two ways: NaN and
// infinity in the sums, negative numbers in the minimum, which ignores NaN.
template <class Join, int heads>
HWY_INLINE FloatVec join_heads(FloatVec old, FloatVec weight, const FloatVec* v, FloatVec* sums,
                               FloatVec* least) {
  HWY_UNROLL(8)
  for (int h = 0; h < heads; ++h) {
    sums[h] = hn::Add(sums[h], v[h]);
    least[h % 2] = hn::Min(v[h], least[h % 2]);
    old = Join::join(old, weight, v[h]);
  }
  return old;
}

// The exact check, for rows that the quick one suspects; a sum may also just be too large.
template <class Read>
HWY_NOINLINE bool all_weights(const std::byte* row, size_t count) {
  const Floats d;
  const FloatVec largest = hn::Set(d, std::numeric_limits<float>::max());
  for (size_t j = 0; j < count; j += lanes) {
    const std::byte* p = row + j * Read::width;
    const FloatVec v = j + lanes <= count ? Read::vector(p) : read_first<Read>(p, count - j);
    if (!hn::AllTrue(d, hn::And(hn::Ge(v, hn::Zero(d)), hn::Le(v, largest)))) return false;
  }
  return true;
}

// One row of `heads` heads that lie `apart` bytes from each other; sums[h * step] for head h.
template <class Join, class Read, int heads>
void fuse_row(bool first, float weight, const std::byte* HWY_RESTRICT row, std::ptrdiff_t apart,
              float* HWY_RESTRICT out, size_t count, float* sums, size_t step) {
  const Floats d;
  const FloatVec scale = hn::Set(d, weight), start = hn::Set(d, Join::start);
  FloatVec sum[heads], least[2] = {hn::Zero(d), hn::Zero(d)};
  HWY_UNROLL(8)
  for (int h = 0; h < heads; ++h) sum[h] = hn::Zero(d);
  FloatVec v[heads];
  size_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    HWY_UNROLL(8)
    for (int h = 0; h < heads; ++h) v[h] = Read::vector(row + h * apart + j * Read::width);
    const FloatVec old = first ? start : hn::LoadU(d, out + j);
    hn::StoreU(join_heads<Join, heads>(old, scale, v, sum, least), d, out + j);
  }
  if (j < count) {
    HWY_UNROLL(8)
    for (int h = 0; h < heads; ++h)
      v[h] = read_first<Read>(row + h * apart + j * Read::width, count - j);
    const FloatVec old = first ? start : load_first(d, out + j, count - j);
    store_first(join_heads<Join, heads>(old, scale, v, sum, least), out + j, count - j);
  }
  const bool negative = hn::GetLane(hn::MinOfLanes(d, hn::Min(least[0], least[1]))) < 0;
  HWY_UNROLL(8)
  for (int h = 0; h < heads; ++h) {
    float total = hn::GetLane(hn::SumOfLanes(d, sum[h]));
    if (negative || !(total <= std::numeric_limits<float>::max()))
      if (!all_weights<Read>(row + h * apart, count))
        total = std::numeric_limits<float>::quiet_NaN();
    sums[static_cast<size_t>(h) * step] = total;
  }
}

template <class Join, class Read>
void fuse_all(bool first, float weight, HeadRows head, MatrixSpan out, std::span<float> sums) {
  const std::ptrdiff_t down = head.stride * static_cast<std::ptrdiff_t>(Read::width);
  const std::ptrdiff_t apart = head.apart * static_cast<std::ptrdiff_t>(Read::width);
  const auto rows = static_cast<size_t>(out.rows());
  for (size_t r = 0; r < rows; ++r) {
    const std::span<float> to = out.row(static_cast<int>(r));
    const std::byte* row = head.data + static_cast<std::ptrdiff_t>(r) * down;
    for (int h = 0; h < head.heads;) {
      const int left = head.heads - h;
      const auto fuse = left >= 6   ? fuse_row<Join, Read, 6>
                        : left >= 2 ? fuse_row<Join, Read, 2>
                                    : fuse_row<Join, Read, 1>;
      fuse(first && h == 0, weight, row + h * apart, apart, to.data(), to.size(),
           sums.data() + static_cast<size_t>(h) * rows + r, rows);
      h += left >= 6 ? 6 : left >= 2 ? 2 : 1;
    }
  }
}

template <class Join>
void fuse_typed(bool first, float weight, HeadRows head, MatrixSpan out, std::span<float> sums) {
  switch (head.type) {
    case DType::f16:
      return fuse_all<Join, ReadF16>(first, weight, head, out, sums);
    case DType::bf16:
      return fuse_all<Join, ReadBF16>(first, weight, head, out, sums);
    case DType::f64:
      return fuse_all<Join, ReadF64>(first, weight, head, out, sums);
    default:
      return fuse_all<Join, ReadF32>(first, weight, head, out, sums);
  }
}

void fuse_rows(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
               std::span<float> sums) {
  switch (reduce) {
    case Reduce::sum:
      return fuse_typed<JoinSum>(first, weight, head, out, sums);
    case Reduce::max:
      return fuse_typed<JoinMax>(first, weight, head, out, sums);
    case Reduce::min:
      return fuse_typed<JoinMin>(first, weight, head, out, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FUSE_INL_H
