// DistilBERT (Sanh et al. 2019): BERT's blocks under other names, without token types.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture distilbert(const Config& config) {
  Architecture model;
  config.also_named("dim", "hidden_size");
  config.also_named("n_layers", "num_hidden_layers");
  config.also_named("n_heads", "num_attention_heads");
  model.width = config.integer("dim");
  model.layers = config.integer("n_layers");
  model.heads = model.groups = config.integer("n_heads");
  model.inner = config.integer("hidden_dim");
  model.positions = config.integer_or("max_position_embeddings", 512);
  model.activation = activation(config, "activation");
  config.pass_over({"attention_dropout", "dropout", "qa_dropout", "seq_classif_dropout",
                    "sinusoidal_pos_embds", "tie_weights_"});
  if (model.width % model.heads != 0)
    fail("{}: n_heads is {}, expected a divisor of dim, {}; check the file", config.name(),
         model.heads, model.width);
  model.head_size = model.width / model.heads;

  model.prefixes = {"", "distilbert."};
  model.probe = "embeddings.word_embeddings.weight";
  model.layer = numbered("transformer.layer.{}.");
  model.query = {"attention.q_lin"};
  model.key = {"attention.k_lin"};
  model.value = {"attention.v_lin"};
  model.mixed = {"attention.out_lin"};
  model.attention_norm = "sa_layer_norm";
  model.up = {"ffn.lin1"};
  model.down = {"ffn.lin2"};
  model.feed_norm = "output_layer_norm";

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embeddings.word_embeddings.weight";
  text.positions = "embeddings.position_embeddings.weight";
  text.norm = "embeddings.LayerNorm";
  model.text = std::move(text);
  model.classifiers = encoder_heads();
  model.classifiers.push_back(
      sequence_head("pre_classifier", kernel::Activation::relu, "classifier"));
  model.classifiers.push_back(masked_head(config, "vocab_transform", model.activation,
                                          "vocab_layer_norm", "vocab_projector", ""));
  return model;
}

}  // namespace headwater::family
