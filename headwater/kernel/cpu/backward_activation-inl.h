// activation_backward and gated_backward.
#if defined(HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#undef HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#else
#define HEADWATER_KERNEL_CPU_BACKWARD_ACTIVATION_INL_H
#endif

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/activation-inl.h"
#include "headwater/kernel/network.h"

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
  // gelu(x) / x is P(x), except at 0.
  const FloatVec zero = hn::Zero(d);
  const auto none = hn::Eq(x, zero);
  const FloatVec below = hn::IfThenElse(
      none, hn::Set(d, 0.5f), hn::Div(gelu(x), hn::IfThenElse(none, hn::Set(d, 1.0f), x)));
  return hn::MulAdd(x, density, below);
}

template <Activation activation>
HWY_INLINE FloatVec slope_of(FloatVec x) {
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

template <Activation activation>
struct Slope {
  static HWY_INLINE FloatVec of(FloatVec x) { return slope_of<activation>(x); }
  static HWY_INLINE FloatVec value(FloatVec x) { return activated<activation>(x); }
};

template <class Task>
void with_slope(Activation activation, const Task& task) {
  switch (activation) {
    case Activation::none:
      return task(Slope<Activation::none>());
    case Activation::gelu:
      return task(Slope<Activation::gelu>());
    case Activation::gelu_tanh:
      return task(Slope<Activation::gelu_tanh>());
    case Activation::quick_gelu:
      return task(Slope<Activation::quick_gelu>());
    case Activation::relu:
      return task(Slope<Activation::relu>());
    case Activation::silu:
      return task(Slope<Activation::silu>());
    case Activation::tanh:
      return task(Slope<Activation::tanh>());
  }
}

// step(load, store, j) for the vectors of a row; the last may be partial.
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

void activation_backward(MatrixView x, Activation activation, MatrixSpan gradient) {
  with_slope(activation, [&](auto slope) {
    for (int t = 0; t < x.rows(); ++t)
      for_row(x.columns(), [&](const auto& load, const auto& store) {
        float* to = gradient.row(t).data();
        store(hn::Mul(load(to), slope.of(load(x.row(t).data()))), to);
      });
  });
}

void gated_backward(Activation activation, MatrixView gradient, MatrixSpan gate, MatrixSpan up) {
  with_slope(activation, [&](auto slope) {
    for (int t = 0; t < gradient.rows(); ++t)
      for_row(gradient.columns(), [&](const auto& load, const auto& store) {
        const FloatVec g = load(gradient.row(t).data());
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
