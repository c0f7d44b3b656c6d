// Numbers as pairs: each is the sum of two bfloat16, which together hold 16 bits. A matrix of pairs has
// all high parts, then all low parts; its rows begin at even places.
#pragma once

namespace headwater::kernel::cuda {

/// Two numbers as bfloat16, the left one in the lower half.
__device__ inline unsigned as_bfloat16(float left, float right) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(right), "f"(left));
  return both;
}

/// Writes two numbers side by side; `part` is the distance from high to low parts.
__device__ inline void write_pairs(unsigned short* to, long long part, float left, float right) {
  const unsigned high = as_bfloat16(left, right);
  left -= __uint_as_float(high << 16);
  right -= __uint_as_float(high & 0xffff0000u);
  *reinterpret_cast<unsigned*>(to) = high;
  *reinterpret_cast<unsigned*>(to + part) = as_bfloat16(left, right);
}

/// The same as float32; the right one only where it exists.
__device__ inline void write_floats(float* to, float left, float right, bool both, long long row) {
  if (both && row % 2 == 0) {
    *reinterpret_cast<float2*>(to) = make_float2(left, right);
  } else {
    to[0] = left;
    if (both) to[1] = right;
  }
}

}  // namespace headwater::kernel::cuda
