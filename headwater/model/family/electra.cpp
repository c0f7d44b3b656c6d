// ELECTRA (Clark et al. 2020): BERT, with word embeddings that may be narrower than the blocks.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture electra(const Config& config) {
  Architecture model = bert_layout(config, "electra.");
  model.text->size = config.integer_or("embedding_size", model.width);
  if (model.text->size != model.width) model.text->project = {"embeddings_project"};
  config.pass_over(
      {"summary_activation", "summary_last_dropout", "summary_type", "summary_use_proj"});
  using kernel::Activation;
  model.classifiers = encoder_heads();
  model.classifiers.push_back(
      sequence_head("classifier.dense", Activation::gelu, "classifier.out_proj"));
  model.classifiers.push_back(masked_head(config, "generator_predictions.dense", Activation::gelu,
                                          "generator_predictions.LayerNorm", "generator_lm_head",
                                          ""));
  // Predicts whether each token was replaced.
  ClassifierNames replaced = sequence_head("discriminator_predictions.dense", model.activation,
                                           "discriminator_predictions.dense_prediction");
  replaced.task = "ForPreTraining";
  replaced.kind = ClassifierNames::Kind::token_classes;
  replaced.rows = ClassifierNames::Rows::each;
  model.classifiers.push_back(replaced);
  return model;
}

}  // namespace headwater::family
