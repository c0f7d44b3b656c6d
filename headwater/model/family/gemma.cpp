// Gemma 3 (Gemma team 2025), text only: Llama, with norms before and after each half whose weights
// are counted from one, norms for each head's queries and keys, words that are scaled, and windows
// with their own rotary positions in most layers.
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture gemma3_text(const Config& config) {
  config.pass_over({"hidden_act"});  // hidden_activation is what counts
  Architecture model = llama_layout(config);
  model.norm = Architecture::Norm::rms_from_one;
  model.activation = activation(config, "hidden_activation", "gelu_pytorch_tanh");
  model.groups = config.integer_or("num_key_value_heads", 4);
  model.head_size = config.integer_or("head_dim", 256);
  model.scaled_by = config.integer_or("query_pre_attn_scalar", 256);
  model.text->scale = static_cast<float>(std::sqrt(model.width));
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"})
    if (config.has(key))
      fail("{}: '{}' is {}, which headwater does not implement, expected none; use another model",
           config.name(), key, config.shown(key));
  config.expect_flag("use_bidirectional_attention", false);
  const bool bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed}) one->bias = bias;
  model.query_norm = "self_attn.q_norm";
  model.key_norm = "self_attn.k_norm";
  model.attention_out_norm = "post_attention_layernorm";
  model.feed_norm = "pre_feedforward_layernorm";
  model.feed_out_norm = "post_feedforward_layernorm";

  const int positions = config.integer_or("max_position_embeddings", 131072);
  model.positions = positions;
  model.rope = read_rope(config, model.head_size, positions);
  if (!config.has("rope_theta") && !config.has("rope_parameters")) model.rope->theta = 1e6;
  model.window_rope = read_window_rope(config, model.head_size, positions);
  const int window = config.integer_or("sliding_window", 4096);
  int pattern = 6;
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"})
    pattern = config.integer_or(key, pattern);
  model.windows = windows_by_type(config, model.layers, window);
  if (model.windows.empty())
    for (int l = 0; l < model.layers; ++l)
      model.windows.push_back((l + 1) % pattern != 0 ? window : 0);
  model.classifiers =
      decoder_heads("ForCausalLM", "score", config.flag_or("tie_word_embeddings", true));
  return model;
}

}  // namespace headwater::family
