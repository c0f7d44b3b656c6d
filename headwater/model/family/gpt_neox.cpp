// GPT-NeoX (Black et al. 2022; Pythia, Biderman et al. 2023): causal, both halves of a block in
// parallel, rotary positions for a part of each head.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// Versions of transformers differ in whether they read the general name of an entry of this family.
void refuse_unclear(const Config& config, const char* general, const char* own, double otherwise) {
  if (!config.has(general)) return;
  const double value = config.number_or(own, otherwise);
  if (config.number(general) != value)
    fail("{}: '{}' is {} and '{}' is {}, expected the same; check the file", config.name(), general,
         config.shown(general), own, value);
}

}  // namespace

Architecture gpt_neox(const Config& config) {
  Architecture model;
  encoder_sizes(config, model);
  config.pass_over({"attention_dropout", "hidden_dropout", "rotary_emb_base", "rotary_pct"});
  model.inner = config.integer("intermediate_size");
  model.epsilon = config.number_or("layer_norm_eps", 1e-5);
  model.positions = config.integer_or("max_position_embeddings", 2048);
  refuse_unclear(config, "rope_theta", "rotary_emb_base", 10000);
  refuse_unclear(config, "partial_rotary_factor", "rotary_pct", 0.25);
  // If head sizes disagree, transformers rotates a part of that size, in heads of another size.
  config.expect_number("head_dim", model.head_size);
  model.rope = read_rope(config, model.head_size, *model.positions, 0.25);
  if (model.rope->kind == "dynamic") model.positions.reset();
  model.causal = true;
  model.norm_first = true;
  model.parallel = config.flag_or("use_parallel_residual", true);
  const bool bias = config.flag_or("attention_bias", true);

  model.prefixes = {"", "gpt_neox."};
  model.probe = "embed_in.weight";
  model.layer = numbered("layers.{}.");
  model.attention_norm = "input_layernorm";
  model.packed = {"attention.query_key_value", bias};
  model.interleaved = true;
  model.mixed = {"attention.dense", bias};
  model.feed_norm = "post_attention_layernorm";
  model.up = {"mlp.dense_h_to_4h"};
  model.down = {"mlp.dense_4h_to_h"};
  model.final_norm = "final_layer_norm";

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embed_in.weight";
  model.text = std::move(text);
  model.classifiers =
      decoder_heads("ForCausalLM", "classifier", config.flag_or("tie_word_embeddings", false));
  model.classifiers.front().out = "embed_out";
  return model;
}

}  // namespace headwater::family
