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
  return activation_named(config, key, config.text_or(key, otherwise));
}

kernel::Activation activation_named(const Config& config, std::string_view key,
                                    std::string_view name) {
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

namespace {

ClassifierNames plain_head(const char* task, ClassifierNames::Kind kind, ClassifierNames::Rows rows,
                           const std::string& out) {
  ClassifierNames head;
  head.task = task;
  head.kind = kind;
  head.rows = rows;
  head.out = out;
  return head;
}

}  // namespace

std::vector<ClassifierNames> encoder_heads() {
  using Kind = ClassifierNames::Kind;
  using Rows = ClassifierNames::Rows;
  return {plain_head("ForTokenClassification", Kind::token_classes, Rows::each, "classifier"),
          plain_head("ForQuestionAnswering", Kind::answers, Rows::each, "qa_outputs")};
}

ClassifierNames sequence_head(const std::string& dense, kernel::Activation activation,
                              const std::string& out) {
  ClassifierNames head = plain_head("ForSequenceClassification", ClassifierNames::Kind::classes,
                                    ClassifierNames::Rows::first, out);
  head.dense_in_body = dense.starts_with('.');
  head.dense = {head.dense_in_body ? dense.substr(1) : dense};
  head.activation = activation;
  return head;
}

ClassifierNames masked_head(const Config& config, const std::string& dense,
                            kernel::Activation activation, const std::string& norm,
                            const std::string& out, const std::string& out_bias) {
  ClassifierNames head = plain_head("ForMaskedLM", ClassifierNames::Kind::masked_words,
                                    ClassifierNames::Rows::each, out);
  head.dense = {dense};
  head.activation = activation;
  head.norm = norm;
  head.tied = config.flag_or("tie_word_embeddings", true);
  head.out_bias = out_bias;
  return head;
}

std::vector<ClassifierNames> decoder_heads(const std::string& language,
                                           const std::string& token_out, bool tied) {
  using Kind = ClassifierNames::Kind;
  using Rows = ClassifierNames::Rows;
  ClassifierNames words = plain_head(language.c_str(), Kind::next_words, Rows::each, "lm_head");
  words.tied = tied;
  return {words, plain_head("ForSequenceClassification", Kind::classes, Rows::last, "score"),
          plain_head("ForTokenClassification", Kind::token_classes, Rows::each, token_out),
          plain_head("ForQuestionAnswering", Kind::answers, Rows::each, "qa_outputs")};
}

}  // namespace headwater::family
