// Gemma 2 (Gemma team 2024): Llama, with norms before and after each half whose weights are counted
// from one, words that are scaled, scores and logits that are capped, and windows in every second
// layer. Gemma 3 (Gemma team 2025), text only: norms for each head's queries and keys instead of
// caps, and windows with their own rotary positions in most layers.
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {
namespace {

float read_cap(const Config& config, const char* key, double otherwise) {
  const double cap = config.is_null(key) ? 0 : config.number_or(key, otherwise);
  if (cap < 0 || cap > 1e30 || (cap == 0 && config.has(key)))
    fail("{}: '{}' is {}, expected a number above 0, or null; check the file", config.name(), key,
         config.shown(key));
  return static_cast<float>(cap);
}

// Blocks and names of both. The caps are those of a config.json that does not say; 0: none. Every
// layer has a window except each `pattern`-th.
Architecture gemma_layout(const Config& config, int positions, double theta, double score_cap,
                          double logit_cap, int pattern) {
  config.pass_over({"hidden_act"});  // hidden_activation decides
  Architecture model = llama_layout(config);
  model.norm = Architecture::Norm::rms_from_one;
  model.activation = activation(config, "hidden_activation", "gelu_pytorch_tanh");
  model.groups = config.integer_or("num_key_value_heads", 4);
  model.head_size = config.integer_or("head_dim", 256);
  model.scaled_by = config.integer_or("query_pre_attn_scalar", 256);
  model.text->scale = static_cast<float>(std::sqrt(model.width));
  config.expect_flag("use_bidirectional_attention", false);
  const bool bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed}) one->bias = bias;
  model.attention_out_norm = "post_attention_layernorm";
  model.feed_norm = "pre_feedforward_layernorm";
  model.feed_out_norm = "post_feedforward_layernorm";

  model.positions = config.integer_or("max_position_embeddings", positions);
  model.rope = read_rope(config, model.head_size, *model.positions, {}, theta);
  const int window = config.integer_or("sliding_window", 4096);
  model.windows = windows_by_type(config, model.layers, window);
  if (model.windows.empty())
    for (int l = 0; l < model.layers; ++l)
      model.windows.push_back((l + 1) % pattern != 0 ? window : 0);
  model.cap = read_cap(config, "attn_logit_softcapping", score_cap);
  model.classifiers =
      decoder_heads("ForCausalLM", "score", config.flag_or("tie_word_embeddings", true));
  model.classifiers.front().cap = read_cap(config, "final_logit_softcapping", logit_cap);
  return model;
}

}  // namespace

Architecture gemma2(const Config& config) {
  config.pass_over({"cache_implementation"});  // of keys and values, in transformers
  return gemma_layout(config, 8192, 1e4, 50, 30, 2);
}

Architecture gemma3_text(const Config& config) {
  // Newer files also have the pattern with an underscore, but layer_types takes precedence.
  config.pass_over({"_sliding_window_pattern"});
  const int pattern = config.integer_or("sliding_window_pattern", 6);
  Architecture model = gemma_layout(config, 131072, 1e6, 0, 0, pattern);
  model.cap = 0;  // only Gemma 2 caps scores, whatever config.json says
  model.query_norm = "self_attn.q_norm";
  model.key_norm = "self_attn.k_norm";
  model.window_rope = read_window_rope(config, model.head_size, *model.positions);
  return model;
}

}  // namespace headwater::family
