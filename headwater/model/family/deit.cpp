// DeiT (Touvron et al. 2021): ViT, with a second token of its own for distillation.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture deit(const Config& config) {
  Architecture model = vit_layout(config, "deit.");
  model.inner = config.integer("intermediate_size");
  model.attention_norm = "layernorm_before";
  model.feed_norm = "layernorm_after";
  model.up = {"intermediate.dense"};
  model.down = {"output.dense"};
  model.image->prefix.push_back("embeddings.distillation_token");
  ClassifierNames both = model.classifiers.front();
  both.task = "ForImageClassificationWithTeacher";
  both.rows = ClassifierNames::Rows::first_two;
  both.out = "cls_classifier";
  both.second_out = "distillation_classifier";
  model.classifiers.push_back(both);
  return model;
}

}  // namespace headwater::family
