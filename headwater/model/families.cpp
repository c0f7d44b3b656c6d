#include <algorithm>

#include "headwater/core/fail.h"
#include "headwater/core/nearest.h"
#include "headwater/model/family/family.h"

namespace headwater {
namespace {

struct Family {
  std::string_view type;
  Architecture (*describe)(const Config& config);
};

constexpr Family known[] = {
    {"albert", family::albert},
    {"bert", family::bert},
    {"deit", family::deit},
    {"dinov2", family::dinov2},
    {"dinov2_with_registers", family::dinov2_with_registers},
    {"distilbert", family::distilbert},
    {"electra", family::electra},
    {"gpt2", family::gpt2},
    {"llama", family::llama},
    {"mistral", family::mistral},
    {"qwen2", family::qwen2},
    {"qwen3", family::qwen3},
    {"roberta", family::roberta},
    {"vit", family::vit},
};

// Entries of any family for training, generation, other outputs or bookkeeping, which a plain
// forward pass does not use.
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
                    "problem_type",
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
                    "language"});
  config.expect_flag("is_encoder_decoder", false);
  config.expect_flag("is_decoder", false);
  config.expect_flag("add_cross_attention", false);
  config.expect_number("cross_attention_hidden_size", 0);
  config.expect_empty("pruned_heads");
  config.expect_empty("quantization_config");
}

void check(const Architecture& model, const Config& config) {
  const auto divides = [&](int part, int whole, const char* what) {
    if (part < 1 || whole % part != 0)
      fail("{}: {} {} do not divide {}, expected a divisor; check the file", config.name(), part,
           what, whole);
  };
  constexpr int64_t widest = int64_t{1} << 20;
  divides(model.groups, model.heads, "key and value heads");
  if (static_cast<int64_t>(model.heads) * model.head_size > widest || model.width > widest)
    fail("{}: {} heads of {} numbers are wider than {}, expected fewer; check the file",
         config.name(), model.heads, model.head_size, widest);
  constexpr int most_layers = 10'000;
  if (model.layers > most_layers)
    fail("{}: has {} layers, expected at most {}; check the file", config.name(), model.layers,
         most_layers);
}

}  // namespace

std::vector<std::string_view> families() {
  std::vector<std::string_view> types;
  for (const Family& one : known) types.push_back(one.type);
  return types;
}

Architecture describe(const Config& config) {
  const std::string type = config.text("model_type");
  const auto found = std::ranges::find(known, type, &Family::type);
  if (found == std::end(known))
    fail("{}: model_type '{}' is not a family that headwater knows{}", config.name(), type,
         suggestion(type, families()));
  pass_over_bookkeeping(config);
  Architecture model = found->describe(config);
  model.family = type;
  model.labels = config.labels();
  if (config.has("architectures")) {
    const std::vector<std::string> kinds = config.texts("architectures");
    if (!kinds.empty()) model.saved_as = kinds.front();
  }
  if (config.has("pad_token_id") && config.integer_or("pad_token_id", -1, -1) >= 0)
    model.padding_id = config.integer("pad_token_id", 0);
  config.finish();
  check(model, config);
  return model;
}

}  // namespace headwater
