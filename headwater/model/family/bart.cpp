// The encoder of BART (Lewis et al. 2020): BERT's blocks, without types of tokens.
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture bart(const Config& config) {
  Architecture model;
  model.encoder_of_two = true;
  model.width = config.integer("d_model");
  model.layers = config.integer("encoder_layers");
  model.heads = model.groups = config.integer("encoder_attention_heads");
  model.inner = config.integer("encoder_ffn_dim");
  model.positions = config.integer_or("max_position_embeddings", 1024);
  model.epsilon = 1e-5;
  model.activation = activation(config, "activation_function");
  if (model.width % model.heads != 0)
    fail("{}: encoder_attention_heads is {}, expected a divisor of d_model, {}; check the file",
         config.name(), model.heads, model.width);
  model.head_size = model.width / model.heads;
  config.pass_over({"dropout", "attention_dropout", "init_std", "classif_dropout", "decoder_layers",
                    "decoder_ffn_dim", "decoder_attention_heads", "num_hidden_layers",
                    "hidden_size", "num_attention_heads", "extra_pos_embeddings",
                    "normalize_before", "normalize_embedding", "add_bias_logits",
                    "add_final_layer_norm", "static_position_embeddings",
                    "force_bos_token_to_be_generated"});

  model.prefixes = {"", "model."};
  model.probe = "shared.weight";
  model.layer = numbered("encoder.layers.{}.");
  model.query = {"self_attn.q_proj"};
  model.key = {"self_attn.k_proj"};
  model.value = {"self_attn.v_proj"};
  model.mixed = {"self_attn.out_proj"};
  model.attention_norm = "self_attn_layer_norm";
  model.up = {"fc1"};
  model.down = {"fc2"};
  model.feed_norm = "final_layer_norm";

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "shared.weight";
  text.positions = "encoder.embed_positions.weight";
  text.first_position = 2;
  text.norm = "encoder.layernorm_embedding";
  if (config.flag_or("scale_embedding", false))
    text.scale = static_cast<float>(std::sqrt(model.width));
  model.text = std::move(text);
  return model;
}

}  // namespace headwater::family
