// Llama (Touvron et al. 2023), and the layout that Mistral and Qwen share with it: causal, RMS
// norms before each half, rotary positions, grouped keys and values, gated feed-forward.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture llama_layout(const Config& config, int positions, std::optional<double> rotated) {
  Architecture model;
  model.width = config.integer("hidden_size");
  model.layers = config.integer("num_hidden_layers");
  model.heads = config.integer("num_attention_heads");
  model.groups = config.integer_or("num_key_value_heads", model.heads);
  model.head_size = config.integer_or("head_dim", model.width / model.heads);
  model.inner = config.integer("intermediate_size");
  model.positions = config.integer_or("max_position_embeddings", positions);
  model.norm = Architecture::Norm::rms;
  model.norm_first = true;
  model.epsilon = config.number_or("rms_norm_eps", 1e-6);
  model.activation = activation(config, "hidden_act", "silu");
  model.causal = true;
  model.rope = read_rope(config, model.head_size, *model.positions, rotated);
  if (model.rope->kind == "dynamic") model.positions.reset();
  config.pass_over({"attention_dropout"});

  model.prefixes = {"", "model.", "transformer."};
  model.probe = "embed_tokens.weight";
  model.layer = numbered("layers.{}.");
  model.attention_norm = "input_layernorm";
  model.query = {"self_attn.q_proj", false};
  model.key = {"self_attn.k_proj", false};
  model.value = {"self_attn.v_proj", false};
  model.mixed = {"self_attn.o_proj", false};
  model.feed_norm = "post_attention_layernorm";
  model.up = {"mlp.up_proj", false};
  model.gate = {"mlp.gate_proj", false};
  model.down = {"mlp.down_proj", false};
  model.final_norm = "norm";

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embed_tokens.weight";
  model.text = std::move(text);
  model.classifiers =
      decoder_heads("ForCausalLM", "score", config.flag_or("tie_word_embeddings", false));
  return model;
}

Architecture llama(const Config& config) {
  Architecture model = llama_layout(config);
  windows_by_type(config, model.layers, 0);  // refuses sliding layers
  const bool attention_bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed})
    one->bias = attention_bias;
  const bool feed_bias = config.flag_or("mlp_bias", false);
  for (LinearNames* one : {&model.up, &model.gate, &model.down}) one->bias = feed_bias;
  config.pass_over({"pretraining_tp"});  // how training split the same products
  return model;
}

}  // namespace headwater::family
