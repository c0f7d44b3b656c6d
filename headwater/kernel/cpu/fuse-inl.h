// fuse_rows: one head joins the others, in one pass that also sums and checks its rows.
//
// The work is small beside reading the head, so all of it has to hide behind the memory: four
// vectors at a time with a sum each, and one unsigned maximum as the whole check.
#if defined(HEADWATER_KERNEL_CPU_FUSE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_FUSE_INL_H
#undef HEADWATER_KERNEL_CPU_FUSE_INL_H
#else
#define HEADWATER_KERNEL_CPU_FUSE_INL_H
#endif

#include "headwater/kernel/cpu/lanes-inl.h"
#include "headwater/kernel/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

enum class Join { first, sum, max, min };

template <Join join>
HWY_INLINE FloatVec joined(FloatVec weight, FloatVec head, const float* HWY_RESTRICT out) {
  if constexpr (join == Join::first) {
    return hn::Mul(weight, head);
  } else {
    const FloatVec old = hn::LoadU(Floats(), out);
    if constexpr (join == Join::sum) return hn::MulAdd(weight, head, old);
    if constexpr (join == Join::max) return hn::Max(old, hn::Mul(weight, head));
    return hn::Min(old, hn::Mul(weight, head));
  }
}

// Read as unsigned, the bits of all weights lie below those of infinity, NaN and negative numbers.
// Adding zero first turns -0, which is a weight, into 0.
using BitVec = hn::Vec<hn::RebindToUnsigned<Floats>>;
HWY_INLINE BitVec worse(BitVec worst, FloatVec head) {
  const FloatVec no_minus_zero = hn::Add(head, hn::Zero(Floats()));
  return hn::Max(worst, hn::BitCast(hn::RebindToUnsigned<Floats>(), no_minus_zero));
}

template <Join join, class Read>
float fuse_row(float weight, const std::byte* HWY_RESTRICT head, float* HWY_RESTRICT out,
               size_t count) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> bits;
  const FloatVec scale = hn::Set(d, weight);
  FloatVec sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  BitVec worst[2] = {hn::Zero(bits), hn::Zero(bits)};
  size_t j = 0;
  for (; j + 4 * lanes <= count; j += 4 * lanes) {
    HWY_UNROLL(4)
    for (size_t u = 0; u < 4; ++u) {
      const size_t at = j + u * lanes;
      const FloatVec v = Read::vector(head + at * Read::width);
      sum[u] = hn::Add(sum[u], v);
      worst[u % 2] = worse(worst[u % 2], v);
      hn::StoreU(joined<join>(scale, v, out + at), d, out + at);
    }
  }
  for (; j + lanes <= count; j += lanes) {
    const FloatVec v = Read::vector(head + j * Read::width);
    sum[0] = hn::Add(sum[0], v);
    worst[0] = worse(worst[0], v);
    hn::StoreU(joined<join>(scale, v, out + j), d, out + j);
  }
  if (j < count) {
    const FloatVec v = read_first<Read>(head + j * Read::width, count - j);
    sum[1] = hn::Add(sum[1], v);
    worst[1] = worse(worst[1], v);
    HWY_ALIGN float old[lanes];
    hn::Store(load_first(d, out + j, count - j), d, old);
    store_first(joined<join>(scale, v, old), out + j, count - j);
  }
  HWY_ALIGN uint32_t seen[lanes];
  hn::Store(hn::Max(worst[0], worst[1]), bits, seen);
  for (size_t i = 0; i < lanes; ++i)
    if (seen[i] >= 0x7F800000u) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]))));
}

template <Join join, class Read>
void fuse_all(float weight, HeadRows head, MatrixSpan out, std::span<float> sums) {
  const std::ptrdiff_t step = head.stride * static_cast<std::ptrdiff_t>(Read::width);
  for (int r = 0; r < out.rows(); ++r)
    sums[static_cast<size_t>(r)] =
        fuse_row<join, Read>(weight, head.data + r * step, out.row(r).data(), out.row(r).size());
}

template <Join join>
void fuse_typed(float weight, HeadRows head, MatrixSpan out, std::span<float> sums) {
  switch (head.type) {
    case DType::f16:
      return fuse_all<join, ReadF16>(weight, head, out, sums);
    case DType::bf16:
      return fuse_all<join, ReadBF16>(weight, head, out, sums);
    case DType::f64:
      return fuse_all<join, ReadF64>(weight, head, out, sums);
    default:
      return fuse_all<join, ReadF32>(weight, head, out, sums);
  }
}

void fuse_rows(Reduce reduce, bool first, float weight, HeadRows head, MatrixSpan out,
               std::span<float> sums) {
  if (first) return fuse_typed<Join::first>(weight, head, out, sums);
  switch (reduce) {
    case Reduce::sum:
      return fuse_typed<Join::sum>(weight, head, out, sums);
    case Reduce::max:
      return fuse_typed<Join::max>(weight, head, out, sums);
    case Reduce::min:
      return fuse_typed<Join::min>(weight, head, out, sums);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_FUSE_INL_H
