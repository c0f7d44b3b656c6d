// The exponential function of a vector.
#if defined(HEADWATER_KERNEL_CPU_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_EXP_INL_H
#undef HEADWATER_KERNEL_CPU_EXP_INL_H
#else
#define HEADWATER_KERNEL_CPU_EXP_INL_H
#endif

#include "headwater/kernel/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// first + x (second + x (...)), one step for each number.
template <class... Numbers>
HWY_INLINE FloatVec polynomial(FloatVec x, float first, Numbers... rest) {
  const FloatVec start = hn::Set(Floats(), first);
  if constexpr (sizeof...(rest) == 0)
    return start;
  else
    return hn::MulAdd(polynomial(x, rest...), x, start);
}

// exp(x) for x <= 88 (above: exp(88)), with a relative error below 1.3e-7; 0 where the result is no
// normal float.
HWY_INLINE FloatVec exp_of(FloatVec x) {
  const Floats d;
  const hn::RebindToSigned<Floats> whole;
  const FloatVec least = hn::Set(d, -87.33654f);
  const FloatVec y = hn::Min(hn::Max(x, least), hn::Set(d, 88.0f));
  // y = n log 2 + r with |r| <= log(2) / 2. log 2 is split in two parts; the first has so few
  // digits that n times it is exact.
  const auto n = hn::NearestInt(hn::Mul(y, hn::Set(d, 1.44269504f)));
  const FloatVec times = hn::ConvertTo(d, n);
  FloatVec r = hn::NegMulAdd(times, hn::Set(d, 0.693359375f), y);
  r = hn::NegMulAdd(times, hn::Set(d, -2.12194440e-4f), r);
  // exp(r) = 1 + r + r^2 p(r), p fitted to the least relative error, 3e-9.
  const FloatVec p =
      polynomial(r, 0.49999994f, 0.1666652f, 0.041668393f, 0.0083687808f, 0.0013814465f);
  const FloatVec power = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
  const FloatVec scaled = hn::BitCast(d, hn::Add(hn::BitCast(whole, power), hn::ShiftLeft<23>(n)));
  return hn::IfThenElseZero(hn::Ge(x, least), scaled);
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_EXP_INL_H
