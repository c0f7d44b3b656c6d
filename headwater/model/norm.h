// The kind of norm that a model uses, and its derivative.
#pragma once
#include "headwater/kernel/backward.h"
#include "headwater/model/layer_weights.h"
#include "headwater/model/propagation.h"

namespace headwater {

/// out may be x.
void apply_norm(const Architecture& model, const NormWeights& norm, MatrixView x, MatrixSpan out);

/// For out = norm(x): dx = (or +=) the gradient of x, given that of out. dx may be `gradient`.
void apply_norm_backward(const Architecture& model, const NormWeights& norm, MatrixView x,
                         Propagation& how, MatrixView gradient, kernel::Into into, MatrixSpan dx);

}  // namespace headwater
