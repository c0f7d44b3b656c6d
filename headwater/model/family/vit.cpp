// ViT (Dosovitskiy et al. 2021), and the layout that DeiT and DINOv2 share with it.
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {

Architecture vit_layout(const Config& config, const std::string& prefix) {
  Architecture model;
  encoder_sizes(config, model);
  config.expect_number("head_dim", model.head_size);
  config.expect_number("num_channels", 3);
  config.pass_over({"encoder_stride", "pooler_act", "pooler_output_size"});
  model.norm_first = true;
  model.prefixes = {"", prefix};
  model.probe = "embeddings.cls_token";
  model.layer = numbered("encoder.layer.{}.");
  const bool bias = config.flag_or("qkv_bias", true);
  model.query = {"attention.attention.query", bias};
  model.key = {"attention.attention.key", bias};
  model.value = {"attention.attention.value", bias};
  model.mixed = {"attention.output.dense"};
  model.final_norm = "layernorm";

  ImageEmbedding image;
  image.side = config.square("image_size");
  image.patch = config.square("patch_size");
  image.project = {"embeddings.patch_embeddings.projection"};
  image.prefix = {"embeddings.cls_token"};
  image.positions = "embeddings.position_embeddings";
  model.image = std::move(image);
  ClassifierNames head;
  head.task = "ForImageClassification";
  head.out = "classifier";
  model.classifiers = {head};
  return model;
}

Architecture vit(const Config& config) {
  Architecture model = vit_layout(config, "vit.");
  model.inner = config.integer("intermediate_size");
  model.attention_norm = "layernorm_before";
  model.feed_norm = "layernorm_after";
  model.up = {"intermediate.dense"};
  model.down = {"output.dense"};
  return model;
}

}  // namespace headwater::family
