// ModernBERT (Warner et al. 2024): an encoder with norms before each half and hardly a bias, gated
// feed-forward, and windows on both sides in most layers, with their own rotary positions.
#include "headwater/core/fail.h"
#include "headwater/model/family/family.h"
#include "headwater/model/family/shared.h"
#include "headwater/model/family/windows.h"

namespace headwater::family {
namespace {

// All of them are out(norm(activation(dense(x)))).
std::vector<ClassifierNames> modernbert_heads(const Config& config) {
  using Kind = ClassifierNames::Kind;
  using Rows = ClassifierNames::Rows;
  const std::string pooling = config.text_or("classifier_pooling", "cls");
  if (pooling != "cls" && pooling != "mean")
    fail("{}: 'classifier_pooling' is '{}', expected cls or mean; check the file", config.name(),
         pooling);
  ClassifierNames head;
  head.dense = {"head.dense", config.flag_or("classifier_bias", false)};
  head.activation = activation(config, "classifier_activation");
  head.norm = "head.norm";
  std::vector<ClassifierNames> heads;
  const auto add = [&](const char* task, Kind kind, Rows rows, const char* out) {
    head.task = task;
    head.kind = kind;
    head.rows = rows;
    head.out = out;
    head.tied = kind == Kind::masked_words && config.flag_or("tie_word_embeddings", true);
    heads.push_back(head);
  };
  add("ForMaskedLM", Kind::masked_words, Rows::each, "decoder");
  add("ForSequenceClassification", Kind::classes, pooling == "cls" ? Rows::first : Rows::mean,
      "classifier");
  add("ForTokenClassification", Kind::token_classes, Rows::each, "classifier");
  add("ForQuestionAnswering", Kind::answers, Rows::each, "classifier");
  return heads;
}

}  // namespace

Architecture modernbert(const Config& config) {
  Architecture model;
  encoder_sizes(config, model);
  config.expect_number("head_dim", model.head_size);
  config.pass_over({"attention_dropout", "embedding_dropout", "initializer_cutoff_factor",
                    "deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index",
                    "decoder_bias", "reference_compile", "repad_logits_with_grad", "hidden_act",
                    "layer_norm_eps", "position_embedding_type"});
  model.inner = config.integer("intermediate_size");
  model.epsilon = config.number_or("norm_eps", 1e-5);
  model.activation = activation(config, "hidden_activation");
  if (!config.flag_or("norm_bias", false)) model.norm = Architecture::Norm::layer_without_bias;
  model.norm_first = true;
  model.bare_start = true;
  const bool bias = config.flag_or("attention_bias", false);
  const bool feed_bias = config.flag_or("mlp_bias", false);

  model.prefixes = {"", "model."};
  model.probe = "embeddings.tok_embeddings.weight";
  model.layer = numbered("layers.{}.");
  model.attention_norm = "attn_norm";
  model.packed = {"attn.Wqkv", bias};
  model.mixed = {"attn.Wo", bias};
  model.feed_norm = "mlp_norm";
  model.packed_gate = {"mlp.Wi", feed_bias};
  model.down = {"mlp.Wo", feed_bias};
  model.final_norm = "final_norm";

  const int positions = config.integer_or("max_position_embeddings", 8192);
  model.positions = positions;
  config.expect_empty("rope_scaling");
  model.rope = read_rope(config, model.head_size, positions, {},
                         config.number_or("global_rope_theta", 160000));
  model.window_rope = read_window_rope(config, model.head_size, positions,
                                       config.number_or("local_rope_theta", 10000));
  if (model.rope->kind == "dynamic") model.positions.reset();
  // Half of local_attention on each side, and the token itself.
  const int half =
      config.integer_or("sliding_window", config.integer_or("local_attention", 128) / 2, 0);
  model.windows = windows_by_type(config, model.layers, half + 1);
  const int every = config.integer_or("global_attn_every_n_layers", 3);
  if (model.windows.empty())
    for (int l = 0; l < model.layers; ++l) model.windows.push_back(l % every != 0 ? half + 1 : 0);

  TextEmbedding text;
  text.size = model.width;
  text.vocabulary = config.integer("vocab_size");
  text.words = "embeddings.tok_embeddings.weight";
  text.norm = "embeddings.norm";
  model.text = std::move(text);
  model.classifiers = modernbert_heads(config);
  return model;
}

}  // namespace headwater::family
