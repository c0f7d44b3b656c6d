// Which instruction sets Highway compiles for. The sources that it includes once for each target
// include this before any header of Highway.
//
// On x86 these are AVX-512 ("avx3"), AVX2, SSSE3 and the baseline. Left out are:
// - What is better than AVX3 (a lower bit is a better target; Highway 1.0.3 knows only AVX3_DL).
//   These add instructions for bytes, bits and small integers, which our kernels do not use. Such
//   machines run AVX3.
// - SSE4. Machines with SSE4 but not AVX2, before about 2013, run SSSE3, at most a tenth slower.
//   Without SSSE3, machines that lack AES or PCLMUL would run the baseline, which multiplies
//   matrices 30 times slower.
// - SVE and RVV. Their vectors have no fixed length, so they cannot be elements of the arrays in
//   which multiply keeps its sums. Such machines run NEON or the baseline.
#pragma once

#define HEADWATER_LEFT_OUT \
  ((HWY_AVX3 - 1) | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#ifndef HEADWATER_ALSO_LEFT_OUT  // by builds with sanitizers
#define HEADWATER_ALSO_LEFT_OUT 0
#endif
#define HWY_DISABLED_TARGETS (HEADWATER_LEFT_OUT | HEADWATER_ALSO_LEFT_OUT)

// Also the baseline that any machine of this kind has, so that it is tested on every machine.
#define HWY_COMPILE_ALL_ATTAINABLE
