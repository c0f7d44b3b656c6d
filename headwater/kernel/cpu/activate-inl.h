// activate: the activation of each number of a matrix.
#if defined(HEADWATER_KERNEL_CPU_ACTIVATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ACTIVATE_INL_H
#undef HEADWATER_KERNEL_CPU_ACTIVATE_INL_H
#else
#define HEADWATER_KERNEL_CPU_ACTIVATE_INL_H
#endif

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

void activate(MatrixView x, Activation activation, MatrixSpan out) {
  with_activation(activation, [&](auto activate) {
    for (int t = 0; t < x.rows(); ++t)
      for_row(x.columns(), [&](const auto& load, const auto& store) {
        store(activate.of(load(x.row(t).data())), out.row(t).data());
      });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ACTIVATE_INL_H
