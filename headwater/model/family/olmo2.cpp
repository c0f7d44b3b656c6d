// OLMo 2 (OLMo team 2024): Llama, with norms after each half instead of before it, and norms of all
// queries and all keys of a token.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture olmo2(const Config& config) {
  Architecture model = llama_layout(config);
  windows_by_type(config, model.layers, 0);  // refuses sliding layers
  model.epsilon = config.number_or("rms_norm_eps", 1e-5);
  const bool bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed}) one->bias = bias;
  model.query_norm = "self_attn.q_norm";
  model.key_norm = "self_attn.k_norm";
  model.norm_all_heads = true;
  model.attention_norm = model.feed_norm = "";
  model.attention_out_norm = "post_attention_layernorm";
  model.feed_out_norm = "post_feedforward_layernorm";
  return model;
}

}  // namespace headwater::family
