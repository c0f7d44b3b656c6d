// What a model says of itself before it has an input.
#pragma once
#include "headwater/model/model.h"
#include "headwater/source/source.h"

namespace headwater {

/// Kind, name, layers, heads and direction; no tokens.
Example model_example(const Model& model);

}  // namespace headwater
