// Loads and stores of vectors of floats: the partial vector at the end of a row, and rows of other
// types.
#if defined(HEADWATER_KERNEL_CPU_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_LANES_INL_H
#undef HEADWATER_KERNEL_CPU_LANES_INL_H
#else
#define HEADWATER_KERNEL_CPU_LANES_INL_H
#endif

#include <cstddef>
#include <cstring>
#include <limits>

#include "hwy/highway.h"

// Only these have masked loads and stores that do not touch the other lanes.
#undef HEADWATER_MASKED_MEMORY
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HEADWATER_MASKED_MEMORY 1
#else
#define HEADWATER_MASKED_MEMORY 0
#endif

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;
using FloatVec = hn::Vec<Floats>;
// As many floats as a vector has doubles: the step of a sum in double.
using FewFloats = hn::Rebind<float, Doubles>;
constexpr size_t lanes = hn::MaxLanes(Floats());
constexpr size_t double_lanes = hn::MaxLanes(Doubles());

// A vector from any address, even one that is no multiple of the number's size.
template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
#if HWY_TARGET == HWY_SCALAR
  hn::TFromD<D> number;
  std::memcpy(&number, from, sizeof number);
  return hn::Set(d, number);
#else
  return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
#endif
}

// The first `count` numbers, less than a vector of them; the other lanes are zero.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* from, size_t count) {
  if constexpr (HEADWATER_MASKED_MEMORY && sizeof(*from) >= 4) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    HWY_ALIGN hn::TFromD<D> some[hn::MaxLanes(D())] = {};
    for (size_t i = 0; i < count; ++i) some[i] = from[i];
    return hn::Load(d, some);
  }
}

HWY_INLINE void store_first(FloatVec v, float* to, size_t count) {
  const Floats d;
#if HEADWATER_MASKED_MEMORY
  hn::BlendedStore(v, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN float some[lanes];
  hn::Store(v, d, some);
  for (size_t i = 0; i < count; ++i) to[i] = some[i];
#endif
}

// Readers of rows of each type: vector(p) reads `lanes` numbers at any address p as floats.
struct ReadF32 {
  static constexpr size_t width = 4;
  static HWY_INLINE FloatVec vector(const std::byte* p) { return load_bytes(Floats(), p); }
};

struct ReadBF16 {
  static constexpr size_t width = 2;
  static HWY_INLINE FloatVec vector(const std::byte* p) {
    const hn::RebindToUnsigned<Floats> bits;
    const auto half = load_bytes(hn::Rebind<uint16_t, Floats>(), p);
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(bits, half)));
  }
};

struct ReadF16 {
  static constexpr size_t width = 2;
  static HWY_INLINE FloatVec vector(const std::byte* p) {
    const Floats d;
    const auto half = load_bytes(hn::Rebind<uint16_t, Floats>(), p);
#if HEADWATER_MASKED_MEMORY || HWY_TARGET == HWY_NEON
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), half));
#else
    // Without the instruction, Highway converts infinity and NaN to numbers. Here the bits move to
    // their places in a float and a product corrects the exponent, also of subnormal numbers.
    // Infinity and NaN are put back by hand.
    const hn::RebindToUnsigned<Floats> bits;
    const auto all = hn::PromoteTo(bits, half);
    const auto size = hn::And(all, hn::Set(bits, 0x7FFFu));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(all, size));
    const auto number = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(size)), hn::Set(d, 0x1p112f));
    const auto no_number =
        hn::IfThenElseZero(hn::Ge(hn::BitCast(d, hn::ShiftLeft<13>(size)), hn::Set(d, 0x1p-96f)),
                           hn::BitCast(d, hn::Set(bits, 0x7F800000u)));
    return hn::Or(hn::Or(number, no_number), hn::BitCast(d, sign));
#endif
  }
};

// A double that is no weight, or too large for float, becomes NaN before rounding can hide it.
struct ReadF64 {
  static constexpr size_t width = 8;
  static HWY_INLINE hn::Vec<Doubles> checked(const std::byte* p) {
    const Doubles d;
    const auto v = load_bytes(d, p);
    const auto largest = hn::Set(d, double{std::numeric_limits<float>::max()});
    const auto good = hn::And(hn::Ge(v, hn::Zero(d)), hn::Le(v, largest));
    return hn::IfThenElse(good, v, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
  }
  static HWY_INLINE FloatVec vector(const std::byte* p) {
#if HWY_TARGET == HWY_SCALAR
    return hn::DemoteTo(Floats(), checked(p));
#else
    const hn::Half<Floats> half;
    const auto low = hn::DemoteTo(half, checked(p));
    const auto high = hn::DemoteTo(half, checked(p + double_lanes * width));
    return hn::Combine(Floats(), high, low);
#endif
  }
};

// The first `count` numbers of a type, less than a vector of them; the other lanes are zero.
template <class Read>
HWY_INLINE FloatVec read_first(const std::byte* p, size_t count) {
  HWY_ALIGN std::byte some[lanes * Read::width] = {};
  for (size_t i = 0; i < count; ++i)
    std::memcpy(some + i * Read::width, p + i * Read::width, Read::width);
  return Read::vector(some);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_LANES_INL_H
