// rotate: rotates pairs of numbers, half a head apart, by the angle of their position.
#if defined(HEADWATER_KERNEL_CPU_ROTATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADWATER_KERNEL_CPU_ROTATE_INL_H
#undef HEADWATER_KERNEL_CPU_ROTATE_INL_H
#else
#define HEADWATER_KERNEL_CPU_ROTATE_INL_H
#endif

#include "headwater/core/matrix.h"
#include "headwater/kernel/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headwater::kernel {
namespace HWY_NAMESPACE {

HWY_INLINE void rotate_pair(FloatVec& a, FloatVec& b, FloatVec cosine, FloatVec sine) {
  const FloatVec before = a;
  a = hn::NegMulAdd(b, sine, hn::Mul(a, cosine));
  b = hn::MulAdd(before, sine, hn::Mul(b, cosine));
}

void rotate(MatrixSpan x, int heads, MatrixView cosine, MatrixView sine) {
  const Floats d;
  const int size = x.columns() / heads;
  const auto half = static_cast<size_t>(cosine.columns());
  for (int t = 0; t < x.rows(); ++t) {
    const float* c = cosine.row(t).data();
    const float* s = sine.row(t).data();
    for (int h = 0; h < heads; ++h) {
      float* first = x.row(t).data() + h * size;
      float* second = first + half;
      size_t j = 0;
      for (; j + lanes <= half; j += lanes) {
        FloatVec a = hn::LoadU(d, first + j), b = hn::LoadU(d, second + j);
        rotate_pair(a, b, hn::LoadU(d, c + j), hn::LoadU(d, s + j));
        hn::StoreU(a, d, first + j);
        hn::StoreU(b, d, second + j);
      }
      if (const size_t rest = half - j; rest > 0) {
        FloatVec a = load_first(d, first + j, rest), b = load_first(d, second + j, rest);
        rotate_pair(a, b, load_first(d, c + j, rest), load_first(d, s + j, rest));
        store_first(a, first + j, rest);
        store_first(b, second + j, rest);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headwater::kernel
HWY_AFTER_NAMESPACE();

#endif  // HEADWATER_KERNEL_CPU_ROTATE_INL_H
