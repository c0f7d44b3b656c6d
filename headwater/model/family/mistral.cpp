// Mistral (Jiang et al. 2023): Llama, with a window of keys in every layer.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture mistral(const Config& config) {
  Architecture model = llama_layout(config, 4096 * 32);
  model.groups = config.integer_or("num_key_value_heads", 8);
  // Without an entry there is a window; null means that there is none.
  const char* key = "sliding_window";
  const int window = config.is_null(key) ? 0 : config.integer_or(key, 4096);
  windows_by_type(config, model.layers, window);  // refuses other kinds of layers
  if (window > 0) model.windows.assign(static_cast<size_t>(model.layers), window);
  return model;
}

}  // namespace headwater::family
