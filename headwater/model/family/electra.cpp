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
  return model;
}

}  // namespace headwater::family
