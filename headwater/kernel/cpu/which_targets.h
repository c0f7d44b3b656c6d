// Which instruction sets Highway compiles for. The sources that it includes once for each target
// include this before any header of Highway.
#pragma once

// SVE and RVV are left out because their vectors, of unknown length, cannot stand in the arrays
// that multiply keeps its sums in; such machines run NEON or the baseline.
#ifdef HEADWATER_FEW_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSE4 | HWY_SSSE3)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif

// Also the baseline that any machine of this kind has, so that it is tested on every machine.
#define HWY_COMPILE_ALL_ATTAINABLE
