#include "headwater/model/entries.h"

#include <algorithm>

#include "headwater/core/fail.h"

namespace headwater {
namespace {

// "GPTQ, 4 bits" for what quantization_config holds.
std::string quantisation(const Config& entries) {
  std::string method = entries.text_or("quant_method", "");
  if (method.empty() &&
      (entries.flag_or("load_in_4bit", false) || entries.flag_or("load_in_8bit", false)))
    method = "bitsandbytes";
  if (method == "gptq" || method == "awq")
    std::ranges::transform(method, method.begin(),
                           [](char c) { return static_cast<char>(c - 32); });
  if (method.empty()) method = "a method that it does not name";
  return entries.has("bits") ? fmt::format("{}, {} bits", method, entries.shown("bits")) : method;
}

void refuse_quantised(const Config& config) {
  for (const char* key : {"quantization_config", "quantization"}) {
    if (config.keys(key).empty()) {
      config.expect_empty(key);
      continue;
    }
    fail(
        "{}: '{}' says that the weights are quantised ({}), expected f32, f16 or bf16; use the "
        "model that it was made from, or load it with transformers, call model.dequantize() and "
        "save_pretrained",
        config.name(), key, quantisation(*config.object(key)));
  }
}

}  // namespace

void pass_over_bookkeeping(const Config& config) {
  config.pass_over({"_name_or_path",
                    "architectures",
                    "transformers_version",
                    "dtype",
                    "torch_dtype",
                    "model_type",
                    "tokenizer_class",
                    "processor_class",
                    "finetuning_task",
                    "task_specific_params",
                    "license",
                    "initializer_range",
                    "initializer_factor",
                    "gradient_checkpointing",
                    "output_attentions",
                    "output_hidden_states",
                    "output_past",
                    "return_dict",
                    "return_dict_in_generate",
                    "use_cache",
                    "torchscript",
                    "use_bfloat16",
                    "tf_legacy_loss",
                    "chunk_size_feed_forward",
                    "prefix",
                    "sep_token_id",
                    "bos_token_id",
                    "eos_token_id",
                    "pad_token_id",
                    "cls_token_id",
                    "mask_token_id",
                    "decoder_start_token_id",
                    "forced_bos_token_id",
                    "forced_eos_token_id",
                    "tie_word_embeddings",
                    "tie_encoder_decoder",
                    "_attn_implementation",
                    "_attn_implementation_autoset",
                    "attn_implementation",
                    "max_length",
                    "min_length",
                    "do_sample",
                    "early_stopping",
                    "num_beams",
                    "num_beam_groups",
                    "diversity_penalty",
                    "temperature",
                    "top_k",
                    "top_p",
                    "typical_p",
                    "epsilon_cutoff",
                    "eta_cutoff",
                    "repetition_penalty",
                    "encoder_no_repeat_ngram_size",
                    "length_penalty",
                    "no_repeat_ngram_size",
                    "bad_words_ids",
                    "num_return_sequences",
                    "output_scores",
                    "remove_invalid_values",
                    "exponential_decay_length_penalty",
                    "suppress_tokens",
                    "begin_suppress_tokens",
                    "classifier_dropout",
                    "language",
                    "_num_labels",
                    "_output_attentions",
                    "_use_cache",
                    "author",
                    "name",
                    "description",
                    "layers_to_keep",
                    "eos_token_ids",
                    "eos_token",
                    "bos_token",
                    "pad_token",
                    "unk_token",
                    "is_llama_config",
                    "max_sequence_length",
                    "transformers.js_config",
                    "sbert_ce_default_activation_function",
                    "sentence_transformers",
                    "uniem_embedding_strategy",
                    "n_special",
                    "predict_special_tokens",
                    "output_past_key_values",
                    "xla_device",
                    "use_return_dict",
                    "trust_remote_code",
                    "unsloth_version",
                    "unsloth_fixed",
                    "pipeline_tag",
                    "tags",
                    "_commit_hash",
                    "base_model",
                    "library_name",
                    "model_max_length",
                    "gradient_checkpointing_kwargs",
                    "decoder_end_token_id",
                    "_experts_implementation",
                    "experts_implementation",
                    "return_unused_kwargs",
                    "neftune_noise_alpha",
                    "output_router_logits",
                    "activation_dropout",
                    "layerdrop",
                    "encoder_layerdrop",
                    "decoder_layerdrop",
                    "mlp_dropout",
                    "embd_dropout",
                    "resid_dropout"});
}

void refuse_other_models(const Config& config, bool causal, bool has_decoder) {
  refuse_quantised(config);
  if (has_decoder)
    config.pass_over({"is_encoder_decoder"});
  else
    config.expect_flag("is_encoder_decoder", false);
  // Causal families are decoders with and without this entry.
  if (causal)
    config.pass_over({"is_decoder"});
  else
    config.expect_flag("is_decoder", false);
  config.expect_flag("is_causal", causal);
  config.expect_flag("add_cross_attention", false);
  config.expect_number("cross_attention_hidden_size", 0);
  config.expect_empty("pruned_heads");
  for (const char* key : {"alibi", "use_alibi"}) config.expect_flag(key, false);
  if (config.has("alibi_starting_size"))
    fail(
        "{}: 'alibi_starting_size' is {}, which means positions by ALiBi, expected absolute or "
        "rotary ones; use another model",
        config.name(), config.shown("alibi_starting_size"));
}

std::optional<std::string> own_code(const Config& config) {
  for (const std::string& kind : config.keys("auto_map"))
    if (kind.starts_with("AutoModel")) return kind;
  return {};
}

}  // namespace headwater
