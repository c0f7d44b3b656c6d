// DINOv2 (Oquab et al. 2024), with registers (Darcet et al. 2024): ViT, with a scale for each
// column that a block adds, and positions that are resized to the image.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

Architecture dino_layout(const Config& config, const std::string& prefix) {
  Architecture model = vit_layout(config, prefix);
  config.pass_over({"_out_features", "_out_indices", "layerscale_value", "drop_path_rate",
                    "apply_layernorm", "out_features", "out_indices", "reshape_hidden_states",
                    "stage_names", "use_mask_token"});
  model.epsilon = config.number_or("layer_norm_eps", 1e-6);
  model.attention_norm = "norm1";
  model.feed_norm = "norm2";
  model.attention_scale = "layer_scale1.lambda1";
  model.feed_scale = "layer_scale2.lambda1";
  model.classifiers.front().rows = ClassifierNames::Rows::first_and_patches;
  const double inner = model.width * config.number_or("mlp_ratio", 4);
  if (!(inner >= 1 && inner <= static_cast<double>(Config::most)))
    fail("{}: mlp_ratio times hidden_size is {}, expected 1 to {}; check the file", config.name(),
         inner, Config::most);
  model.inner = static_cast<int>(inner);
  if (config.flag_or("use_swiglu_ffn", false)) {
    model.inner = (model.inner * 2 / 3 + 7) / 8 * 8;
    model.activation = kernel::Activation::silu;
    model.packed_gate = {"mlp.weights_in"};
    model.down = {"mlp.weights_out"};
  } else {
    model.up = {"mlp.fc1"};
    model.down = {"mlp.fc2"};
  }
  return model;
}

}  // namespace

Architecture dinov2(const Config& config) {
  Architecture model = dino_layout(config, "dinov2.");
  model.image->resize = ImageEmbedding::Resize::bicubic;
  return model;
}

Architecture dinov2_with_registers(const Config& config) {
  Architecture model = dino_layout(config, "dinov2_with_registers.");
  model.image->resize = ImageEmbedding::Resize::bicubic_antialias;
  model.image->registers = "embeddings.register_tokens";
  model.image->register_count = config.integer_or("num_register_tokens", 4, 0);
  if (model.image->register_count == 0) model.image->registers.clear();
  return model;
}

}  // namespace headwater::family
