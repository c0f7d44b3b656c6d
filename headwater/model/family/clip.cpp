// CLIP (Radford et al. 2021) and SigLIP (Zhai et al. 2023): a tower for texts and one for images,
// both with norms before each half. A config.json may describe one or both.
#include "headwater/core/fail.h"
#include "headwater/model/entries.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// Defaults for entries that config.json leaves out.
struct Defaults {
  int width, inner, heads;
  const char* activation;
  double epsilon;
};
constexpr Defaults clip_text_defaults{512, 2048, 8, "quick_gelu", 1e-5};
constexpr Defaults clip_image_defaults{768, 3072, 12, "quick_gelu", 1e-5};
constexpr Defaults siglip_defaults{768, 3072, 12, "gelu_pytorch_tanh", 1e-6};

Architecture tower(const Config& config, const Defaults& otherwise, const std::string& prefix) {
  Architecture model;
  model.width = config.integer_or("hidden_size", otherwise.width);
  model.inner = config.integer_or("intermediate_size", otherwise.inner);
  model.layers = config.integer_or("num_hidden_layers", 12);
  model.heads = model.groups = config.integer_or("num_attention_heads", otherwise.heads);
  model.epsilon = config.number_or("layer_norm_eps", otherwise.epsilon);
  model.activation = activation(config, "hidden_act", otherwise.activation);
  config.pass_over({"attention_dropout", "dropout", "projection_dim", "projection_size",
                    "logit_scale_init_value", "vision_use_head"});
  if (model.width % model.heads != 0)
    fail("{}: num_attention_heads is {}, expected a divisor of hidden_size, {}; check the file",
         config.name(), model.heads, model.width);
  model.head_size = model.width / model.heads;
  model.norm_first = true;
  model.prefixes = {"", prefix};
  model.layer = numbered("encoder.layers.{}.");
  model.attention_norm = "layer_norm1";
  model.query = {"self_attn.q_proj"};
  model.key = {"self_attn.k_proj"};
  model.value = {"self_attn.v_proj"};
  model.mixed = {"self_attn.out_proj"};
  model.feed_norm = "layer_norm2";
  model.up = {"mlp.fc1"};
  model.down = {"mlp.fc2"};
  return model;
}

Architecture text_tower(const Config& config, const Defaults& otherwise, int words, int positions) {
  Architecture model = tower(config, otherwise, "text_model.");
  model.positions = config.integer_or("max_position_embeddings", positions);
  model.probe = "embeddings.token_embedding.weight";
  model.final_norm = "final_layer_norm";
  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer_or("vocab_size", words);
  text.words = "embeddings.token_embedding.weight";
  text.positions = "embeddings.position_embedding.weight";
  model.text = std::move(text);
  return model;
}

Architecture image_tower(const Config& config, const Defaults& otherwise, int patch) {
  Architecture model = tower(config, otherwise, "vision_model.");
  config.expect_number("num_channels", 3);
  model.probe = "embeddings.patch_embedding.weight";
  ImageEmbedding image;
  image.side = config.has("image_size") ? config.square("image_size") : 224;
  image.patch = config.has("patch_size") ? config.square("patch_size") : patch;
  image.project = {"embeddings.patch_embedding"};
  image.positions = "embeddings.position_embedding.weight";
  image.flat = true;
  model.image = std::move(image);
  return model;
}

// Calls read(part) for the tower's own entries: those under `key`, or all of them.
Architecture with_part(const Config& config, const char* key, const char* other,
                       Architecture (*read)(const Config& config)) {
  for (const char* both : {"text_config_dict", "vision_config_dict"}) config.pass_over({both});
  config.pass_over({other, "projection_dim", "logit_scale_init_value"});
  const std::optional<Config> part = config.object(key);
  if (!part)
    fail("{}: has no '{}', expected the sizes of that tower; check the file", config.name(), key);
  // Older files repeat it under another name, which takes precedence.
  const std::string repeated = std::string(key) + "_dict";
  const std::optional<Config> again = config.object(repeated);
  for (const char* size : {"hidden_size", "num_hidden_layers", "num_attention_heads",
                           "intermediate_size", "hidden_act", "patch_size", "image_size"})
    if (again && again->has(size) && part->has(size) && again->shown(size) != part->shown(size))
      fail("{}: '{}' is {} under {} and {} under {}, expected the same; check the file",
           config.name(), size, part->shown(size), key, again->shown(size), repeated);
  pass_over_bookkeeping(*part);
  part->pass_over({"id2label", "label2id", "num_labels"});
  Architecture model = read(*part);
  refuse_other_models(*part, model.causal, false);
  part->finish();
  return model;
}

bool classifies(const Config& config) {
  if (!config.has("architectures")) return false;
  const std::vector<std::string> kinds = config.texts("architectures");
  return !kinds.empty() && kinds.front().ends_with("ForImageClassification");
}

ClassifierNames image_head(ClassifierNames::Rows rows) {
  ClassifierNames head;
  head.task = "ForImageClassification";
  head.rows = rows;
  head.out = "classifier";
  return head;
}

}  // namespace

Architecture clip_text_model(const Config& config) {
  Architecture model = text_tower(config, clip_text_defaults, 49408, 77);
  model.causal = true;
  return model;
}

Architecture clip_vision_model(const Config& config) {
  Architecture model = image_tower(config, clip_image_defaults, 32);
  model.image->project.bias = false;
  model.image->prefix = {"embeddings.class_embedding"};
  model.image->norm = "pre_layrnorm";
  model.final_norm = "post_layernorm";
  return model;
}

Architecture clip_text(const Config& config) {
  return with_part(config, "text_config", "vision_config", clip_text_model);
}

Architecture clip_image(const Config& config) {
  Architecture model = with_part(config, "vision_config", "text_config", clip_vision_model);
  // Classes are read from rows without the norm.
  if (classifies(config)) model.final_norm.clear();
  model.classifiers = {image_head(ClassifierNames::Rows::patches)};
  return model;
}

Architecture siglip_text_model(const Config& config) {
  Architecture model = text_tower(config, siglip_defaults, 32000, 64);
  model.notes.push_back(fmt::format(
      "texts had {} tokens with padding in training; headwater pads them only to compare "
      "them with another input",
      *model.positions));
  return model;
}

Architecture siglip_vision_model(const Config& config) {
  Architecture model = image_tower(config, siglip_defaults, 16);
  model.final_norm = "post_layernorm";
  return model;
}

Architecture siglip_text(const Config& config) {
  return with_part(config, "text_config", "vision_config", siglip_text_model);
}

Architecture siglip_image(const Config& config) {
  Architecture model = with_part(config, "vision_config", "text_config", siglip_vision_model);
  model.classifiers = {image_head(ClassifierNames::Rows::mean)};
  return model;
}

}  // namespace headwater::family
