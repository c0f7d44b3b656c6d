// What a model says about its input, for a result that is about it.
#pragma once
#include "headwater/result/result.h"
#include "headwater/source/differentiable.h"

namespace headwater {

/// Adds what `model` says about its input. For a comparison of two models, `model` is the first.
void add_prediction(Result& result, Differentiable& model);

}  // namespace headwater
