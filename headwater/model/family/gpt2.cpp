// GPT-2 (Radford et al. 2019): causal, norms before each half, weights stored as input x output.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture gpt2(const Config& config) {
  Architecture model;
  config.also_named("n_embd", "hidden_size");
  config.also_named("n_layer", "num_hidden_layers");
  config.also_named("n_head", "num_attention_heads");
  config.also_named("n_positions", "max_position_embeddings");
  model.width = config.integer("n_embd");
  model.layers = config.integer("n_layer");
  model.heads = model.groups = config.integer("n_head");
  model.inner = config.integer_or("n_inner", 4 * model.width);
  model.positions = config.integer_or("n_positions", 1024);
  model.epsilon = config.number_or("layer_norm_epsilon", 1e-5);
  model.activation = activation(config, "activation_function", "gelu_new");
  model.scaled = config.flag_or("scale_attn_weights", true);
  model.scaled_by_layer = config.flag_or("scale_attn_by_inverse_layer_idx", false);
  // The order of operations in f16 training; the results are the same in float.
  config.pass_over({"reorder_and_upcast_attn"});
  config.pass_over({"attn_pdrop", "embd_pdrop", "resid_pdrop", "n_ctx", "summary_activation",
                    "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                    "summary_use_proj"});
  if (model.width % model.heads != 0)
    fail("{}: n_head is {}, expected a divisor of n_embd, {}; check the file", config.name(),
         model.heads, model.width);
  model.head_size = model.width / model.heads;

  model.causal = true;
  model.norm_first = true;
  model.input_major = true;
  model.prefixes = {"", "transformer."};
  model.probe = "wte.weight";
  model.layer = numbered("h.{}.");
  model.attention_norm = "ln_1";
  model.packed = {"attn.c_attn"};
  model.mixed = {"attn.c_proj"};
  model.feed_norm = "ln_2";
  model.up = {"mlp.c_fc"};
  model.down = {"mlp.c_proj"};
  model.final_norm = "ln_f";

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "wte.weight";
  text.positions = "wpe.weight";
  model.text = std::move(text);
  model.classifiers =
      decoder_heads("LMHeadModel", "classifier", config.flag_or("tie_word_embeddings", true));
  return model;
}

}  // namespace headwater::family
