#include "headwater/model/model_example.h"

namespace headwater {

Example model_example(const Model& model) {
  Example example;
  example.kind = "model";
  example.name = model.name();
  example.layers = model.architecture().layers;
  example.heads.assign(static_cast<size_t>(example.layers), model.architecture().heads);
  example.causal = model.architecture().causal;
  return example;
}

}  // namespace headwater
