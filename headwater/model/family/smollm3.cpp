// SmolLM3 (Bakouch et al. 2025): Llama, with some layers that do not rotate by position.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {

Architecture smollm3(const Config& config) {
  Architecture model = llama_layout(config, 32768);
  model.groups = config.integer_or("num_key_value_heads", 4);
  model.rope = read_rope(config, model.head_size, *model.positions, {}, 2e6);
  const bool attention_bias = config.flag_or("attention_bias", false);
  for (LinearNames* one : {&model.query, &model.key, &model.value, &model.mixed})
    one->bias = attention_bias;
  const bool feed_bias = config.flag_or("mlp_bias", false);
  for (LinearNames* one : {&model.up, &model.gate, &model.down}) one->bias = feed_bias;
  model.classifiers =
      decoder_heads("ForCausalLM", "score", config.flag_or("tie_word_embeddings", true));

  // Despite its name, no_rope_layers is 1 for the layers that rotate.
  const int interval = config.integer_or("no_rope_layer_interval", 4);
  for (int l = 0; l < model.layers; ++l) model.unrotated.push_back((l + 1) % interval == 0);
  if (config.has("no_rope_layers")) {
    const std::vector<int> rotated = config.integers("no_rope_layers");
    if (rotated.size() != model.unrotated.size())
      fail("{}: no_rope_layers has {} entries, expected one for each of {} layers; check the file",
           config.name(), rotated.size(), model.layers);
    for (size_t l = 0; l < rotated.size(); ++l) model.unrotated[l] = rotated[l] == 0;
  }
  const int window =
      config.flag_or("use_sliding_window", false) ? config.integer_or("sliding_window", 0) : 0;
  config.pass_over({"sliding_window"});
  model.windows = windows_by_type(config, model.layers, window);
  if (model.windows.empty() && window > 0)
    for (const bool unrotated : model.unrotated) model.windows.push_back(unrotated ? window : 0);
  return model;
}

}  // namespace headwater::family
