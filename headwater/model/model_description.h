// What a model says about itself before it has an input.
#pragma once
#include "headwater/model/model.h"
#include "headwater/source/source.h"

namespace headwater {

/// Kind, name, layers, heads and whether it is causal; no tokens.
Description model_description(const Model& model);

}  // namespace headwater
