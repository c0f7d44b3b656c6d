// ALBERT (Lan et al. 2020): BERT's blocks, shared between layers, over narrow word embeddings.
#include <fmt/format.h>

#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture albert(const Config& config) {
  Architecture model = bert_layout(config, "albert.");
  model.activation = activation(config, "hidden_act", "gelu_new");
  const int groups = config.integer_or("num_hidden_groups", 1), layers = model.layers;
  config.expect_number("inner_group_num", 1);
  config.expect_number("down_scale_factor", 1);
  config.expect_number("gap_size", 0);
  config.expect_number("net_structure_type", 0);
  config.expect_number("num_memory_blocks", 0);
  config.pass_over({"classifier_dropout_prob"});
  // Layer l belongs to group floor(l / (layers / groups)), with real division.
  model.layer = [groups, layers](int layer) {
    const int64_t group = static_cast<int64_t>(layer) * groups / layers;
    return fmt::format("encoder.albert_layer_groups.{}.albert_layers.0.", group);
  };
  model.query = {"attention.query"};
  model.key = {"attention.key"};
  model.value = {"attention.value"};
  model.mixed = {"attention.dense"};
  model.attention_norm = "attention.LayerNorm";
  model.up = {"ffn"};
  model.down = {"ffn_output"};
  model.feed_norm = "full_layer_layer_norm";
  model.text->size = config.integer_or("embedding_size", 128);
  model.text->project = {"encoder.embedding_hidden_mapping_in"};
  model.classifiers = encoder_heads();
  model.classifiers.push_back(sequence_head(".pooler", kernel::Activation::tanh, "classifier"));
  ClassifierNames words =
      masked_head(config, "predictions.dense", model.activation, "predictions.LayerNorm",
                  "predictions.decoder", "predictions.bias");
  model.classifiers.push_back(words);
  words.task = "ForPreTraining";
  model.classifiers.push_back(words);
  return model;
}

}  // namespace headwater::family
