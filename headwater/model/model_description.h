// What a model says of itself before it has an input.
#pragma once
#include "headwater/model/model.h"
#include "headwater/source/source.h"

namespace headwater {

/// Kind, name, layers, heads and direction; no tokens.
Description model_description(const Model& model);

}  // namespace headwater
