// Mistral (Jiang et al. 2023): Llama, with a window of keys in every layer.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture mistral(const Config& config) {
  Architecture model = llama_layout(config);
  model.groups = config.integer_or("num_key_value_heads", 8);
  const int window = config.integer_or("sliding_window", 0);
  windows_by_type(config, model.layers, window);  // refuses other kinds of layers
  if (window > 0) model.windows.assign(static_cast<size_t>(model.layers), window);
  return model;
}

}  // namespace headwater::family
