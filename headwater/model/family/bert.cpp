// BERT (Devlin et al. 2018), and the layout that RoBERTa and ELECTRA share with it.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture bert_layout(const Config& config, const std::string& prefix) {
  Architecture model;
  encoder_sizes(config, model);
  model.inner = config.integer("intermediate_size");
  model.prefixes = {"", prefix};
  model.probe = "embeddings.word_embeddings.weight";
  model.layer = numbered("encoder.layer.{}.");
  model.query = {"attention.self.query"};
  model.key = {"attention.self.key"};
  model.value = {"attention.self.value"};
  model.mixed = {"attention.output.dense"};
  model.attention_norm = "attention.output.LayerNorm";
  model.up = {"intermediate.dense"};
  model.down = {"output.dense"};
  model.feed_norm = "output.LayerNorm";
  model.positions = config.integer_or("max_position_embeddings", 512);
  config.expect_text("position_embedding_type", "absolute");

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embeddings.word_embeddings.weight";
  text.positions = "embeddings.position_embeddings.weight";
  text.types = "embeddings.token_type_embeddings.weight";
  text.type_count = config.integer_or("type_vocab_size", 2);
  text.norm = "embeddings.LayerNorm";
  model.text = std::move(text);
  return model;
}

Architecture bert(const Config& config) {
  config.pass_over({"pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                    "pooler_size_per_head", "pooler_type", "directionality"});
  Architecture model = bert_layout(config, "bert.");
  using kernel::Activation;
  model.classifiers = encoder_heads();
  model.classifiers.push_back(sequence_head(".pooler.dense", Activation::tanh, "classifier"));
  ClassifierNames next = sequence_head(".pooler.dense", Activation::tanh, "cls.seq_relationship");
  next.task = "ForNextSentencePrediction";
  model.classifiers.push_back(next);
  // Weights from pre-training have both classifiers; the one over words is used.
  ClassifierNames words = masked_head(config, "cls.predictions.transform.dense", model.activation,
                                      "cls.predictions.transform.LayerNorm",
                                      "cls.predictions.decoder", "cls.predictions.bias");
  model.classifiers.push_back(words);
  words.task = "ForPreTraining";
  model.classifiers.push_back(words);
  return model;
}

}  // namespace headwater::family
