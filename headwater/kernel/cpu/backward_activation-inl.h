// activation_backward and gated_backward.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#endif

#include "headwater/core/matrix.h"
#include "headwater/kernel/backward.h"
#include "headwater/kernel/cpu/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

// The slope of x s(y) where s is the logistic function and y' = slope: s + x s (1 - s) y'. It uses
// exp(-|y|), so that neither s nor 1 - s loses digits.
HWY_INLINE FloatVec slope_of_gated(FloatVec x, FloatVec y, FloatVec slope) {
  const Floats d;
  const FloatVec one = hn::Set(d, 1.0f);
  const FloatVec e = exp_of(hn::Neg(hn::Abs(y)));
  const FloatVec large = hn::Div(one, hn::Add(one, e)), small = hn::Mul(e, large);
  const FloatVec s = hn::IfThenElse(hn::Lt(y, hn::Zero(d)), small, large);
  return hn::MulAdd(hn::Mul(x, hn::Mul(small, large)), slope, s);
}

// P(x) + x p(x), P the normal distribution and p its density.
HWY_INLINE FloatVec slope_of_gelu(FloatVec x) {
  const Floats d;
  const FloatVec density =
      hn::Mul(exp_of(hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f))), hn::Set(d, 0.398942280f));
  return hn::MulAdd(x, density, normal_below(x));
}

template <Activation activation>
HWY_INLINE FloatVec tangent_of(FloatVec x) {
  const Floats d;
  const FloatVec one = hn::Set(d, 1.0f);
  if constexpr (activation == Activation::gelu) return slope_of_gelu(x);
  if constexpr (activation == Activation::gelu_tanh) {
    const FloatVec square = hn::Mul(x, x);
    const FloatVec factor = hn::MulAdd(square, hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
    const FloatVec slope = hn::MulAdd(square, hn::Set(d, 0.2140644488f), hn::Set(d, 1.59576912f));
    return slope_of_gated(x, hn::Mul(x, factor), slope);
  }
  if constexpr (activation == Activation::quick_gelu) {
    const FloatVec times = hn::Set(d, 1.702f);
    return slope_of_gated(x, hn::Mul(x, times), times);
  }
  if constexpr (activation == Activation::relu)
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one);
  if constexpr (activation == Activation::silu) return slope_of_gated(x, x, one);
  if constexpr (activation == Activation::tanh) {
    // 1 - tanh^2, without cancellation for large x.
    const FloatVec e = exp_of(hn::Mul(hn::Abs(x), hn::Set(d, -2.0f)));
    const FloatVec sum = hn::Add(one, e);
    return hn::Div(hn::Mul(hn::Set(d, 4.0f), e), hn::Mul(sum, sum));
  }
  return one;
}

// activation(x) / x without the division, where there is a factor that is the quotient.
template <Activation activation>
HWY_INLINE FloatVec secant_of(FloatVec x) {
  const Floats d;
  const FloatVec one = hn::Set(d, 1.0f);
  if constexpr (activation == Activation::gelu) return normal_below(x);
  if constexpr (activation == Activation::gelu_tanh) {
    const FloatVec factor =
        hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f));
    return gated(one, hn::Mul(x, factor));
  }
  if constexpr (activation == Activation::quick_gelu)
    return gated(one, hn::Mul(x, hn::Set(d, 1.702f)));
  if constexpr (activation == Activation::relu) return tangent_of<activation>(x);
  if constexpr (activation == Activation::silu) return gated(one, x);
  if constexpr (activation == Activation::tanh) {
    const auto none = hn::Eq(x, hn::Zero(d));
    return hn::IfThenElse(none, one, hn::Div(tanh_of(x), hn::IfThenElse(none, one, x)));
  }
  return one;
}

template <Activation activation, Slope slope>
struct SlopeOf {
  static HWY_INLINE FloatVec of(FloatVec x) {
    return slope == Slope::tangent ? tangent_of<activation>(x) : secant_of<activation>(x);
  }
  static HWY_INLINE FloatVec value(FloatVec x) { return activated<activation>(x); }
};

template <Slope slope, class Task>
void with_slope(Activation activation, const Task& task) {
  switch (activation) {
    case Activation::none:
      return task(SlopeOf<Activation::none, slope>());
    case Activation::gelu:
      return task(SlopeOf<Activation::gelu, slope>());
    case Activation::gelu_tanh:
      return task(SlopeOf<Activation::gelu_tanh, slope>());
    case Activation::quick_gelu:
      return task(SlopeOf<Activation::quick_gelu, slope>());
    case Activation::relu:
      return task(SlopeOf<Activation::relu, slope>());
    case Activation::silu:
      return task(SlopeOf<Activation::silu, slope>());
    case Activation::tanh:
      return task(SlopeOf<Activation::tanh, slope>());
  }
}

template <class Task>
void with_slope(Activation activation, Slope slope, const Task& task) {
  if (slope == Slope::tangent) return with_slope<Slope::tangent>(activation, task);
  with_slope<Slope::secant>(activation, task);
}

void activation_backward(MatrixView x, Activation activation, Slope which, MatrixSpan gradient) {
  with_slope(activation, which, [&](auto slope) {
    for (int t = 0; t < x.rows(); ++t)
      for_row(x.columns(), [&](const auto& load, const auto& store) {
        float* to = gradient.row(t).data();
        store(hn::Mul(load(to), slope.of(load(x.row(t).data()))), to);
      });
  });
}

void gated_backward(Activation activation, Slope which, MatrixView gradient, MatrixSpan gate,
                    MatrixSpan up) {
  const FloatVec share = hn::Set(Floats(), which == Slope::secant ? 0.5f : 1.0f);
  with_slope(activation, which, [&](auto slope) {
    for (int t = 0; t < gradient.rows(); ++t)
      for_row(gradient.columns(), [&](const auto& load, const auto& store) {
        const FloatVec g = hn::Mul(share, load(gradient.row(t).data()));
        const FloatVec inner = load(gate.row(t).data()), outer = load(up.row(t).data());
        store(hn::Mul(hn::Mul(g, outer), slope.of(inner)), gate.row(t).data());
        store(hn::Mul(g, slope.value(inner)), up.row(t).data());
      });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
