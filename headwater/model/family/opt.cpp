// OPT (Zhang et al. 2022): GPT-2's shape with separate queries, keys and values.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture opt(const Config& config) {
  Architecture model;
  model.width = config.integer("hidden_size");
  model.layers = config.integer("num_hidden_layers");
  model.heads = model.groups = config.integer("num_attention_heads");
  model.inner = config.integer("ffn_dim");
  model.positions = config.integer_or("max_position_embeddings", 2048);
  model.epsilon = 1e-5;
  model.activation = activation(config, "activation_function", "relu");
  config.expect_flag("layer_norm_elementwise_affine", true);
  config.pass_over({"dropout", "attention_dropout", "init_std", "activation_dropout"});
  if (model.width % model.heads != 0)
    fail("{}: num_attention_heads is {}, expected a divisor of hidden_size, {}; check the file",
         config.name(), model.heads, model.width);
  model.head_size = model.width / model.heads;
  // Only OPT-350m differs: it projects words before it adds positions, and rows before the
  // classifier.
  const int words = config.integer_or("word_embed_proj_dim", model.width);

  model.causal = true;
  model.norm_first = config.flag_or("do_layer_norm_before", true);
  const bool bias = config.flag_or("enable_bias", true);
  model.prefixes = {"", "decoder.", "model.decoder."};
  model.probe = "embed_tokens.weight";
  model.layer = numbered("layers.{}.");
  model.attention_norm = "self_attn_layer_norm";
  model.query = {"self_attn.q_proj", bias};
  model.key = {"self_attn.k_proj", bias};
  model.value = {"self_attn.v_proj", bias};
  model.mixed = {"self_attn.out_proj", bias};
  model.feed_norm = "final_layer_norm";
  model.up = {"fc1", bias};
  model.down = {"fc2", bias};
  if (model.norm_first && !config.flag_or("_remove_final_layer_norm", false))
    model.final_norm = "final_layer_norm";
  config.pass_over({"_remove_final_layer_norm"});

  TextEmbedding text;
  text.size = words;
  if (words != model.width) {
    text.project = {"project_in", false};
    text.projects_words = true;
  }
  text.vocabulary = config.integer("vocab_size");
  text.words = "embed_tokens.weight";
  text.positions = "embed_positions.weight";
  text.first_position = 2;
  model.text = std::move(text);
  model.classifiers =
      decoder_heads("ForCausalLM", "score", config.flag_or("tie_word_embeddings", true));
  if (words != model.width)
    for (ClassifierNames& head : model.classifiers) {
      head.dense = {"project_out", false};
      head.dense_in_body = head.to_word_size = true;
    }
  return model;
}

}  // namespace headwater::family
