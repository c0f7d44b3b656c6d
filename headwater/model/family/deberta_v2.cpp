// DeBERTa v2 and v3 (He et al. 2021): BERT's blocks, where distances between tokens add to the
// scores by products with queries and keys.
#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"

namespace headwater::family {
namespace {

// "p2c|c2p", or a list of the two.
std::vector<std::string> parts_of(const Config& config, const char* key) {
  if (!config.has(key)) return {};
  if (config.is_list(key)) return config.texts(key);
  std::vector<std::string> parts(1);
  for (const char c : config.text(key)) {
    if (c == '|')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return parts;
}

bool contains(const std::vector<std::string>& parts, std::string_view part) {
  return std::ranges::find(parts, part) != parts.end();
}

void read_places(const Config& config, Architecture& model) {
  const std::vector<std::string> parts = parts_of(config, "pos_att_type");
  const bool by_query = contains(parts, "c2p"), by_key = contains(parts, "p2c");
  model.scaled_by = model.head_size * (1 + by_query + by_key);
  const int buckets = config.integer_or("position_buckets", -1, -1);
  int furthest = config.integer_or("max_relative_positions", -1, -1);
  if (furthest < 1) furthest = *model.positions;
  const bool shared = config.flag_or("share_att_key", false);
  const std::vector<std::string> norms = parts_of(config, "norm_rel_ebd");
  if (!config.flag_or("relative_attention", false) || (!by_query && !by_key)) return;
  PlaceNames places;
  places.table = "encoder.rel_embeddings.weight";
  if (contains(norms, "layer_norm")) places.norm = "encoder.LayerNorm";
  places.span = buckets > 0 ? buckets : furthest;
  places.furthest = buckets > 0 ? furthest : 0;
  constexpr int most = 1 << 16;
  if (places.span > most || (buckets > 0 && (buckets < 2 || furthest - 1 <= buckets / 2)))
    fail(
        "{}: 'position_buckets' is {} and 'max_relative_positions' is {}, expected 2 to {} buckets "
        "for more than half as many positions; check the file",
        config.name(), buckets, furthest, most);
  if (by_query) places.keys = shared ? model.key : LinearNames{"attention.self.pos_key_proj"};
  if (by_key) places.queries = shared ? model.query : LinearNames{"attention.self.pos_query_proj"};
  model.places = std::move(places);
}

// The xlarge and xxlarge models have one.
void read_convolution(const Config& config, Architecture& model) {
  const int size = config.integer_or("conv_kernel_size", 0, -1);
  if (size <= 0) return config.pass_over({"conv_act", "conv_groups"});
  ConvolutionNames convolution;
  convolution.name = "encoder.conv.conv";
  convolution.size = size;
  convolution.groups = config.integer_or("conv_groups", 1);
  convolution.activation = activation(config, "conv_act", "tanh");
  convolution.norm = "encoder.conv.LayerNorm";
  constexpr int most = 255;
  if (size % 2 == 0 || size > most)
    fail(
        "{}: 'conv_kernel_size' is {}, expected an odd number of neighbours up to {}, with the "
        "token in their middle; check the file",
        config.name(), size, most);
  if (model.width % convolution.groups != 0)
    fail("{}: 'conv_groups' is {}, expected a divisor of 'hidden_size', {}; check the file",
         config.name(), convolution.groups, model.width);
  model.convolution = std::move(convolution);
  model.notes.push_back(
      "a convolution beside the first block mixes neighbouring tokens, which no attention shows; "
      "relevance counts it");
}

}  // namespace

Architecture deberta_v2(const Config& config) {
  Architecture model;
  encoder_sizes(config, model);
  config.pass_over({"pooler_dropout", "cls_dropout", "summary_type", "summary_activation",
                    "summary_last_dropout", "summary_use_proj"});
  model.epsilon = config.number_or("layer_norm_eps", 1e-7);
  model.inner = config.integer("intermediate_size");
  model.head_size = config.integer_or("attention_head_size", model.head_size);
  model.positions = config.integer_or("max_position_embeddings", 512);
  config.expect_number("embedding_size", model.width);
  config.expect_number("pooler_hidden_size", model.width);
  model.prefixes = {"", "deberta."};
  model.probe = "embeddings.word_embeddings.weight";
  model.layer = numbered("encoder.layer.{}.");
  model.query = {"attention.self.query_proj"};
  model.key = {"attention.self.key_proj"};
  model.value = {"attention.self.value_proj"};
  model.mixed = {"attention.output.dense"};
  model.attention_norm = "attention.output.LayerNorm";
  model.up = {"intermediate.dense"};
  model.down = {"output.dense"};
  model.feed_norm = "output.LayerNorm";
  read_places(config, model);
  read_convolution(config, model);

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embeddings.word_embeddings.weight";
  if (config.flag_or("position_biased_input", true))
    text.positions = "embeddings.position_embeddings.weight";
  text.type_count = config.integer_or("type_vocab_size", 0, 0);
  if (text.type_count > 0) text.types = "embeddings.token_type_embeddings.weight";
  text.norm = "embeddings.LayerNorm";
  model.text = std::move(text);

  model.classifiers = encoder_heads();
  model.classifiers.push_back(
      sequence_head("pooler.dense", activation(config, "pooler_hidden_act"), "classifier"));
  const std::string words = "lm_predictions.lm_head.";
  if (config.flag_or("legacy", true)) {
    model.classifiers.push_back(masked_head(config, "cls.predictions.transform.dense",
                                            model.activation, "cls.predictions.transform.LayerNorm",
                                            "cls.predictions.decoder", "cls.predictions.bias"));
  } else {
    model.classifiers.push_back(masked_head(config, words + "dense", model.activation,
                                            words + "LayerNorm", words + "decoder",
                                            words + "bias"));
    model.classifiers.back().tied = true;  // whatever config.json says
  }
  return model;
}

}  // namespace headwater::family
