// The encoder of T5 (Raffel et al. 2020) and mT5 (Xue et al. 2021): RMS norms before each half, no
// biases, scores that are not scaled, and distances that add to them, the same in all layers.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// "relu", or "gated-gelu" for gelu_new with a gate.
void read_feed(const Config& config, Architecture& model) {
  const char* key = "feed_forward_proj";
  const bool multilingual = config.text("model_type") == "mt5";
  const std::string text = config.text_or(key, multilingual ? "gated-gelu" : "relu");
  const bool gated = text.starts_with("gated-");
  model.activation = text == "gated-gelu"
                         ? kernel::Activation::gelu_tanh
                         : activation_named(config, key, text.substr(gated ? 6 : 0));
  const std::string feed = "layer.1.DenseReluDense.";
  model.up = {feed + (gated ? "wi_1" : "wi"), false};
  if (gated) model.gate = {feed + "wi_0", false};
  model.down = {feed + "wo", false};
}

}  // namespace

Architecture t5(const Config& config) {
  Architecture model;
  model.encoder_of_two = true;
  model.width = config.integer("d_model");
  model.layers = config.integer("num_layers");
  model.heads = model.groups = config.integer("num_heads");
  model.head_size = config.integer("d_kv");
  model.inner = config.integer("d_ff");
  model.norm = Architecture::Norm::rms;
  model.norm_first = true;
  model.epsilon = config.number_or("layer_norm_epsilon", 1e-6);
  model.scaled = false;
  config.pass_over({"dropout_rate", "n_positions", "num_decoder_layers", "dense_act_fn",
                    "is_gated_act", "scale_decoder_outputs", "hidden_size", "num_hidden_layers",
                    "num_attention_heads", "head_dim"});
  read_feed(config, model);

  model.prefixes = {"", "transformer."};
  model.probe = "shared.weight";
  model.layer = numbered("encoder.block.{}.");
  model.attention_norm = "layer.0.layer_norm";
  const std::string attention = "layer.0.SelfAttention.";
  model.query = {attention + "q", false};
  model.key = {attention + "k", false};
  model.value = {attention + "v", false};
  model.mixed = {attention + "o", false};
  model.feed_norm = "layer.1.layer_norm";
  model.final_norm = "encoder.final_layer_norm";
  DistanceNames& distances = model.distance_bias;
  distances.table = "encoder.block.0." + attention + "relative_attention_bias.weight";
  distances.buckets = config.integer_or("relative_attention_num_buckets", 32, 4);
  distances.furthest = config.integer_or("relative_attention_max_distance", 128);
  if (distances.furthest <= distances.buckets / 4)
    fail(
        "{}: 'relative_attention_max_distance' is {}, expected more than a quarter of the {} "
        "buckets; check the file",
        config.name(), distances.furthest, distances.buckets);

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "shared.weight";
  model.text = std::move(text);
  // Only this one reads the encoder.
  model.classifiers = {encoder_heads().front()};
  return model;
}

}  // namespace headwater::family
