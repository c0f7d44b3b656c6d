#include "headwater/model/model_description.h"

namespace headwater {

Description model_description(const Model& model) {
  Description description;
  description.kind = "model";
  description.name = model.name();
  description.layers = model.architecture().layers;
  description.heads.assign(static_cast<size_t>(description.layers), model.architecture().heads);
  description.causal = model.architecture().causal;
  return description;
}

}  // namespace headwater
