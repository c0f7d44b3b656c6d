// Qwen2 (Yang et al. 2024): Llama with biases for queries, keys and values, and windows in some
// layers. Qwen3 (Yang et al. 2025): the same without those biases, and with norms for each head's
// queries and keys.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// Which layers have a window: by layer_types or, in older files, all from max_window_layers on.
std::vector<int> read_windows(const Config& config, int layers) {
  const bool used = config.flag_or("use_sliding_window", false);
  const int window = config.integer_or("sliding_window", 0);
  const int first = config.integer_or("max_window_layers", 28, 0);
  std::vector<int> windows(static_cast<size_t>(layers));
  if (!config.has("layer_types")) {
    for (int l = first; l < layers && used; ++l) windows[static_cast<size_t>(l)] = window;
    return windows;
  }
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.size() != windows.size())
    fail("{}: layer_types has {} entries, expected one for each of {} layers; check the file",
         config.name(), types.size(), layers);
  for (size_t l = 0; l < types.size(); ++l) {
    if (types[l] != "full_attention" && types[l] != "sliding_attention")
      fail(
          "{}: layer_types has '{}', expected full_attention or sliding_attention; use another "
          "model",
          config.name(), types[l]);
    if (types[l] != "sliding_attention") continue;
    if (!used || window == 0)
      fail(
          "{}: layer {} is sliding_attention, expected use_sliding_window and a sliding_window; "
          "check the file",
          config.name(), l);
    windows[l] = window;
  }
  return windows;
}

}  // namespace

Architecture qwen2(const Config& config) {
  Architecture model = llama_layout(config);
  model.groups = config.integer_or("num_key_value_heads", 32);
  for (LinearNames* one : {&model.query, &model.key, &model.value}) one->bias = true;
  model.windows = read_windows(config, model.layers);
  return model;
}

Architecture qwen3(const Config& config) {
  Architecture model = llama_layout(config);
  model.groups = config.integer_or("num_key_value_heads", 32);
  model.head_size = config.integer_or("head_dim", 128);
  model.rope = read_rope(config, model.head_size, config.integer("max_position_embeddings"));
  const bool bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed}) one->bias = bias;
  model.query_norm = "self_attn.q_norm";
  model.key_norm = "self_attn.k_norm";
  model.windows = read_windows(config, model.layers);
  return model;
}

}  // namespace headwater::family
