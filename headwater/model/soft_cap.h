// Logits that are kept within bounds: x becomes cap * tanh(x / cap) (Gemma 2).
#pragma once
#include "headwater/core/matrix.h"
#include "headwater/kernel/backward.h"

namespace headwater {

/// A cap of 0 is none.
void cap_logits(float cap, MatrixSpan logits);

/// The slope at a logit, given as it is without the cap; 1 if there is none.
double cap_slope(float cap, double logit, kernel::Slope slope);

}  // namespace headwater
