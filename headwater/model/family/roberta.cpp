// RoBERTa (Liu et al. 2019): BERT, with positions that begin after the padding's own.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture roberta(const Config& config) {
  Architecture model = bert_layout(config, "roberta.");
  const int padding = config.integer_or("pad_token_id", 1, 0);
  model.text->padding = padding;
  model.text->first_position = padding + 1;
  model.positions -= padding + 1;
  return model;
}

}  // namespace headwater::family
