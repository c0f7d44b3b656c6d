#include "headwater/model/family/shared.h"

#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"

namespace headwater::family {

std::function<std::string(int)> numbered(std::string pattern) {
  return [pattern = std::move(pattern)](int layer) {
    return fmt::format(fmt::runtime(pattern), layer);
  };
}

kernel::Activation activation(const Config& config, std::string_view key,
                              std::string_view otherwise) {
  using kernel::Activation;
  struct Known {
    std::string_view name;
    Activation activation;
  };
  static constexpr Known known[] = {
      {"gelu", Activation::gelu},
      {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_fast", Activation::gelu_tanh},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_python_tanh", Activation::gelu_tanh},
      {"gelu_accurate", Activation::gelu_tanh},
      {"quick_gelu", Activation::quick_gelu},
      {"relu", Activation::relu},
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"tanh", Activation::tanh},
  };
  const std::string name = config.text_or(key, otherwise);
  const auto found = std::ranges::find(known, name, &Known::name);
  if (found == std::end(known)) {
    std::vector<std::string_view> names;
    for (const Known& one : known) names.push_back(one.name);
    fail("{}: '{}' is '{}', which is not implemented{}", config.name(), key, name,
         suggestion(name, names));
  }
  return found->activation;
}

void encoder_sizes(const Config& config, Architecture& model) {
  model.width = config.integer("hidden_size");
  model.layers = config.integer("num_hidden_layers");
  model.heads = model.groups = config.integer("num_attention_heads");
  if (model.width % model.heads != 0)
    fail("{}: num_attention_heads is {}, expected a divisor of hidden_size, {}; check the file",
         config.name(), model.heads, model.width);
  model.head_size = model.width / model.heads;
  model.epsilon = config.number_or("layer_norm_eps", 1e-12);
  model.activation = activation(config, "hidden_act");
  config.pass_over({"attention_probs_dropout_prob", "hidden_dropout_prob"});
}

}  // namespace headwater::family
