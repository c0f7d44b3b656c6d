// The activations of a vector.
#if defined(HEADWATER_KERNEL_CPU_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ACTIVATION_INL_H
#undef HEADWATER_KERNEL_CPU_ACTIVATION_INL_H
#else
#define HEADWATER_KERNEL_CPU_ACTIVATION_INL_H
#endif

#include "headwater/kernel/cpu/exp-inl.h"
#include "headwater/kernel/network.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// x / (1 + exp(-y)).
HWY_INLINE FloatVec gated(FloatVec x, FloatVec y) {
  const FloatVec one = hn::Set(Floats(), 1.0f);
  return hn::Div(x, hn::Add(one, exp_of(hn::Neg(y))));
}

// P(x), the normal distribution. P(-t) = exp(-t^2 / 2) m(t) for t >= 0. m falls slowly: it is a
// polynomial in 1 / (1 + t / 4), fitted to the least relative error, 8e-9. This keeps the digits of
// the left tail, which 1 + erf would lose.
HWY_INLINE FloatVec normal_below(FloatVec x) {
  const Floats d;
  const FloatVec one = hn::Set(d, 1.0f);
  const FloatVec t = hn::Abs(x);
  const FloatVec u = hn::Div(one, hn::MulAdd(t, hn::Set(d, 0.25f), one));
  const FloatVec m =
      hn::Mul(u, polynomial(u, 0.09975104f, 0.09943588f, 0.09595615f, 0.07006554f, 0.09195072f,
                            0.0033288726f, 0.039221305f, 0.043886334f, -0.05960837f, 0.016012521f));
  const FloatVec tail = hn::Mul(exp_of(hn::Mul(hn::Mul(t, t), hn::Set(d, -0.5f))), m);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

// Near 0 the quotient would lose digits; the polynomial keeps them.
HWY_INLINE FloatVec tanh_of(FloatVec x) {
  const Floats d;
  const FloatVec one = hn::Set(d, 1.0f), two = hn::Set(d, 2.0f);
  const FloatVec t = hn::Abs(x), square = hn::Mul(x, x);
  const FloatVec p =
      polynomial(square, -0.33333284f, 0.13331491f, -0.053743497f, 0.020650579f, -0.0057170363f);
  const FloatVec small = hn::MulAdd(hn::Mul(x, square), p, x);
  const FloatVec large = hn::Sub(one, hn::Div(two, hn::Add(exp_of(hn::Mul(t, two)), one)));
  return hn::IfThenElse(hn::Lt(t, hn::Set(d, 0.625f)), small, hn::CopySignToAbs(large, x));
}

template <Activation activation>
HWY_INLINE FloatVec activated(FloatVec x) {
  const Floats d;
  if constexpr (activation == Activation::gelu) return hn::Mul(x, normal_below(x));
  if constexpr (activation == Activation::gelu_tanh) {
    // (1 + tanh(z)) / 2 = 1 / (1 + exp(-2 z)).
    const FloatVec factor =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
    return gated(x, hn::Mul(x, factor));
  }
  if constexpr (activation == Activation::quick_gelu)
    return gated(x, hn::Mul(x, hn::Set(d, 1.702f)));
  if constexpr (activation == Activation::relu) return hn::Max(x, hn::Zero(d));
  if constexpr (activation == Activation::silu) return gated(x, x);
  if constexpr (activation == Activation::tanh) return tanh_of(x);
  return x;
}

// Calls task(f), where f.of(vector) is the activation.
template <Activation activation>
struct Activate {
  static HWY_INLINE FloatVec of(FloatVec x) { return activated<activation>(x); }
};

template <class Task>
void with_activation(Activation activation, const Task& task) {
  switch (activation) {
    case Activation::none:
      return task(Activate<Activation::none>());
    case Activation::gelu:
      return task(Activate<Activation::gelu>());
    case Activation::gelu_tanh:
      return task(Activate<Activation::gelu_tanh>());
    case Activation::quick_gelu:
      return task(Activate<Activation::quick_gelu>());
    case Activation::relu:
      return task(Activate<Activation::relu>());
    case Activation::silu:
      return task(Activate<Activation::silu>());
    case Activation::tanh:
      return task(Activate<Activation::tanh>());
  }
}

// step(load, store) for the vectors of a row; the last may be partial.
template <class Step>
HWY_INLINE void for_row(int columns, const Step& step) {
  const Floats d;
  int j = 0;
  for (; j + static_cast<int>(lanes) <= columns; j += static_cast<int>(lanes))
    step([&](const float* row) { return hn::LoadU(d, row + j); },
         [&](FloatVec v, float* row) { hn::StoreU(v, d, row + j); });
  if (j == columns) return;
  const auto some = static_cast<size_t>(columns - j);
  step([&](const float* row) { return load_first(d, row + j, some); },
       [&](FloatVec v, float* row) { store_first(v, row + j, some); });
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ACTIVATION_INL_H
