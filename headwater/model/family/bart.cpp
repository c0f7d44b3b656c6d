// BART (Lewis et al. 2020), encoder and decoder: BERT's blocks, without types of tokens; and mBART
// (Liu et al. 2020), with norms before each part and one at the end.
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// What encoder and decoder share; `stack` is "encoder" or "decoder".
Architecture bart_layout(const Config& config, const std::string& stack) {
  Architecture model;
  const bool multilingual = config.text("model_type") == "mbart";
  config.also_named("d_model", "hidden_size");
  config.also_named("encoder_attention_heads", "num_attention_heads");
  if (!config.has("encoder_layers")) config.also_named("encoder_layers", "num_hidden_layers");
  model.width = config.integer("d_model");
  model.layers = config.integer(stack + "_layers");
  model.heads = model.groups = config.integer(stack + "_attention_heads");
  model.inner = config.integer(stack + "_ffn_dim");
  model.norm_first = multilingual;
  if (multilingual) model.final_norm = stack + ".layer_norm";
  model.positions = config.integer_or("max_position_embeddings", 1024);
  model.epsilon = 1e-5;
  model.activation = activation(config, "activation_function");
  if (model.width % model.heads != 0)
    fail("{}: {}_attention_heads is {}, expected a divisor of d_model, {}; check the file",
         config.name(), stack, model.heads, model.width);
  model.head_size = model.width / model.heads;
  config.pass_over({"dropout",
                    "attention_dropout",
                    "init_std",
                    "classif_dropout",
                    "encoder_layers",
                    "encoder_ffn_dim",
                    "encoder_attention_heads",
                    "decoder_layers",
                    "decoder_ffn_dim",
                    "decoder_attention_heads",
                    "num_hidden_layers",
                    "hidden_size",
                    "num_attention_heads",
                    "extra_pos_embeddings",
                    "normalize_before",
                    "normalize_embedding",
                    "add_bias_logits",
                    "add_final_layer_norm",
                    "static_position_embeddings",
                    "force_bos_token_to_be_generated"});

  model.prefixes = {"", "model."};
  model.probe = "shared.weight";
  model.layer = numbered(stack + ".layers.{}.");
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
  text.words = stack + ".embed_tokens.weight";
  text.positions = stack + ".embed_positions.weight";
  text.first_position = 2;
  text.norm = stack + ".layernorm_embedding";
  if (config.flag_or("scale_embedding", false))
    text.scale = static_cast<float>(std::sqrt(model.width));
  model.text = std::move(text);
  return model;
}

}  // namespace

Architecture bart(const Config& config) {
  Architecture model = bart_layout(config, "encoder");
  model.encoder_of_two = true;
  return model;
}

Architecture bart_decoder(const Config& config) {
  Architecture model = bart_layout(config, "decoder");
  model.causal = true;
  if (config.text("model_type") == "bart") model.start_id = 2;
  model.cross = {{"encoder_attn.q_proj"},
                 {"encoder_attn.k_proj"},
                 {"encoder_attn.v_proj"},
                 {"encoder_attn.out_proj"},
                 "encoder_attn_layer_norm"};
  ClassifierNames words = decoder_heads("ForConditionalGeneration", "", true).front();
  words.out_bias = "final_logits_bias";
  model.classifiers = {words};
  return model;
}

}  // namespace headwater::family
