// MPNet (Song et al. 2020): RoBERTa's positions in BERT's blocks, and distances that add to the
// scores, the same in all layers.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture mpnet(const Config& config) {
  Architecture model;
  encoder_sizes(config, model);
  model.inner = config.integer("intermediate_size");
  model.prefixes = {"", "mpnet."};
  model.probe = "embeddings.word_embeddings.weight";
  model.layer = numbered("encoder.layer.{}.");
  model.query = {"attention.attn.q"};
  model.key = {"attention.attn.k"};
  model.value = {"attention.attn.v"};
  model.mixed = {"attention.attn.o"};
  model.attention_norm = "attention.LayerNorm";
  model.up = {"intermediate.dense"};
  model.down = {"output.dense"};
  model.feed_norm = "output.LayerNorm";
  model.distance_bias.table = "encoder.relative_attention_bias.weight";
  config.pass_over({"relative_attention_num_buckets"});  // 32 are used, whatever it says

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embeddings.word_embeddings.weight";
  text.positions = "embeddings.position_embeddings.weight";
  text.norm = "embeddings.LayerNorm";
  // Whatever pad_token_id says.
  text.padding = 1;
  text.first_position = 2;
  const int positions = config.integer_or("max_position_embeddings", 512);
  if (positions <= text.first_position)
    fail(
        "{}: 'max_position_embeddings' is {}, expected more than {}, which belong to the padding; "
        "check the file",
        config.name(), positions, text.first_position);
  model.positions = positions - text.first_position;
  model.text = std::move(text);
  model.classifiers = roberta_heads(config);
  return model;
}

}  // namespace headwater::family
