// RoBERTa (Liu et al. 2019): BERT, with positions that start after those of the padding.
// XLM-RoBERTa (Conneau et al. 2020) and CamemBERT (Martin et al. 2020): the same with other
// vocabularies.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

std::vector<ClassifierNames> roberta_heads(const Config& config) {
  using kernel::Activation;
  std::vector<ClassifierNames> heads = encoder_heads();
  heads.push_back(sequence_head("classifier.dense", Activation::tanh, "classifier.out_proj"));
  heads.push_back(masked_head(config, "lm_head.dense", Activation::gelu, "lm_head.layer_norm",
                              "lm_head.decoder", "lm_head.bias"));
  return heads;
}

Architecture roberta(const Config& config) {
  Architecture model = bert_layout(config, "roberta.");
  const int padding = config.integer_or("pad_token_id", 1, 0);
  model.text->padding = padding;
  model.text->first_position = padding + 1;
  // The first rows of the table belong to the padding.
  if (*model.positions - 1 <= padding)
    fail(
        "{}: 'max_position_embeddings' is {}, expected more than {}, because positions start after "
        "'pad_token_id' {}; check both entries",
        config.name(), *model.positions, padding + 1, padding);
  model.positions = *model.positions - (padding + 1);
  model.classifiers = roberta_heads(config);
  return model;
}

}  // namespace headwater::family
