// Qwen2 (Yang et al. 2024): Llama with biases for queries, keys and values, and windows in some
// layers. Qwen3 (Yang et al. 2025): the same without those biases, and with norms for each head's
// queries and keys.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {
namespace {

constexpr int default_positions = 32768;

// Which layers have a window: by layer_types or, in older files, all from max_window_layers on.
std::vector<int> read_windows(const Config& config, int layers) {
  const bool used = config.flag_or("use_sliding_window", false);
  const char* key = "sliding_window";
  const int window = used && !config.is_null(key) ? config.integer_or(key, 4096) : 0;
  const int first = config.integer_or("max_window_layers", 28, 0);
  config.pass_over({"sliding_window"});
  std::vector<int> windows = windows_by_type(config, layers, window);
  if (!windows.empty()) return windows;
  windows.resize(static_cast<size_t>(layers));
  for (int l = first; l < layers; ++l) windows[static_cast<size_t>(l)] = window;
  return windows;
}

}  // namespace

Architecture qwen2(const Config& config) {
  Architecture model = llama_layout(config, default_positions);
  model.groups = config.integer_or("num_key_value_heads", 32);
  for (LinearNames* one : {&model.query, &model.key, &model.value}) one->bias = true;
  model.windows = read_windows(config, model.layers);
  return model;
}

Architecture qwen3(const Config& config) {
  Architecture model = llama_layout(config, default_positions);
  model.groups = config.integer_or("num_key_value_heads", 32);
  model.head_size = config.integer_or("head_dim", 128);
  model.rope = read_rope(config, model.head_size, *model.positions);
  const bool bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed}) one->bias = bias;
  model.query_norm = "self_attn.q_norm";
  model.key_norm = "self_attn.k_norm";
  model.windows = read_windows(config, model.layers);
  return model;
}

}  // namespace headwater::family
