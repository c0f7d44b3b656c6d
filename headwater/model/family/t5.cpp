// T5 (Raffel et al. 2020) and mT5 (Xue et al. 2021), encoder and decoder: RMS norms before each
// part, no biases, scores that are not scaled, and distances that add to them, the same in all
// layers.
#include <cmath>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// "relu", or "gated-gelu" for gelu_new with a gate. Other entries of newer files take precedence.
void read_feed(const Config& config, const std::string& part, Architecture& model) {
  const char* key = "feed_forward_proj";
  const bool multilingual = config.text("model_type") == "mt5";
  const std::string text = config.text_or(key, multilingual ? "gated-gelu" : "relu");
  const bool named = text.starts_with("gated-");
  const bool gated = config.flag_or("is_gated_act", named);
  const std::string plain = text == "gated-gelu" ? "gelu_new" : text.substr(named ? 6 : 0);
  const char* own = "dense_act_fn";
  model.activation =
      config.has(own) ? activation(config, own) : activation_named(config, key, plain);
  const std::string feed = part + ".DenseReluDense.";
  model.up = {feed + (gated ? "wi_1" : "wi"), false};
  if (gated) model.gate = {feed + "wi_0", false};
  model.down = {feed + "wo", false};
}

// What encoder and decoder share; `stack` is "encoder" or "decoder", `feed` its feed-forward part.
Architecture t5_layout(const Config& config, const std::string& stack, const std::string& feed) {
  Architecture model;
  config.also_named("d_model", "hidden_size");
  config.also_named("num_layers", "num_hidden_layers");
  config.also_named("num_heads", "num_attention_heads");
  config.also_named("d_kv", "head_dim");
  model.width = config.integer("d_model");
  model.layers = config.integer("num_layers");
  model.heads = model.groups = config.integer("num_heads");
  model.head_size = config.integer("d_kv");
  model.inner = config.integer("d_ff");
  model.norm = Architecture::Norm::rms;
  model.norm_first = true;
  model.epsilon = config.number_or("layer_norm_epsilon", 1e-6);
  model.scaled = false;
  config.pass_over({"dropout_rate", "n_positions", "num_decoder_layers", "scale_decoder_outputs"});
  read_feed(config, feed, model);

  model.prefixes = {"", "transformer."};
  model.probe = "shared.weight";
  model.layer = numbered(stack + ".block.{}.");
  model.attention_norm = "layer.0.layer_norm";
  const std::string attention = "layer.0.SelfAttention.";
  model.query = {attention + "q", false};
  model.key = {attention + "k", false};
  model.value = {attention + "v", false};
  model.mixed = {attention + "o", false};
  model.feed_norm = feed + ".layer_norm";
  model.final_norm = stack + ".final_layer_norm";
  DistanceNames& distances = model.distance_bias;
  distances.table = stack + ".block.0." + attention + "relative_attention_bias.weight";
  distances.buckets = config.integer_or("relative_attention_num_buckets", 32, 4);
  distances.furthest = config.integer_or("relative_attention_max_distance", 128);
  if (distances.furthest <= distances.buckets / 2)
    fail(
        "{}: 'relative_attention_max_distance' is {}, expected more than half of the {} "
        "buckets; check the file",
        config.name(), distances.furthest, distances.buckets);

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = stack + ".embed_tokens.weight";
  model.text = std::move(text);
  return model;
}

}  // namespace

Architecture t5(const Config& config) {
  Architecture model = t5_layout(config, "encoder", "layer.1");
  model.encoder_of_two = true;
  // Only this one reads the encoder.
  model.classifiers = {encoder_heads().front()};
  return model;
}

Architecture t5_decoder(const Config& config) {
  Architecture model = t5_layout(config, "decoder", "layer.2");
  model.layers = config.integer_or("num_decoder_layers", model.layers);
  model.causal = true;
  model.distance_bias.back_only = true;
  const std::string attention = "layer.1.EncDecAttention.";
  model.cross = {{attention + "q", false},
                 {attention + "k", false},
                 {attention + "v", false},
                 {attention + "o", false},
                 "layer.1.layer_norm"};
  ClassifierNames words = decoder_heads("ForConditionalGeneration", "", true).front();
  // Version 1.1 and mT5 do not scale. Older files say so by not sharing the table of words.
  const bool tied = config.flag_or("tie_word_embeddings", true);
  if (config.text("model_type") == "t5" && config.flag_or("scale_decoder_outputs", tied))
    words.scale = static_cast<float>(1 / std::sqrt(model.width));
  model.classifiers = {words};
  return model;
}

}  // namespace headwater::family
