// config.json: any bytes are a family that is described, or one sentence.
#include <string_view>

#include "headwater/core/error.h"
#include "headwater/model/architecture.h"
#include "tests/fuzz/structure/json.h"

namespace {
constexpr std::string_view words =
    "albert bart bert camembert clip clip_text_model clip_vision_model deit dinov2 "
    "dinov2_with_registers distilbert electra gemma2 gemma3_text gpt2 gpt_neox llama mistral "
    "modernbert mpnet mt5 olmo2 opt phi3 qwen2 qwen3 roberta siglip siglip_text_model "
    "siglip_vision_model smollm3 t5 vit deberta-v2 xlm-roberta _remove_final_layer_norm "
    "architectures attention_bias attention_factor attention_head_size beta_fast beta_slow "
    "classifier_bias classifier_pooling conv_kernel_size d_ff d_kv d_model dim "
    "do_layer_norm_before embedding_size enable_bias encoder_attention_heads encoder_ffn_dim "
    "encoder_layers factor ffn_dim full_attention global_attn_every_n_layers "
    "global_rope_theta head_dim hidden_act hidden_dim hidden_size high_freq_factor id2label "
    "image_size inner_group_num intermediate_size is_encoder_decoder layer_norm_eps "
    "layer_norm_epsilon layer_types legacy local_attention local_rope_theta long_factor "
    "low_freq_factor max_position_embeddings max_relative_positions max_window_layers "
    "mlp_bias mlp_ratio model_type mscale mscale_all_dim n_embd n_head n_heads n_inner "
    "n_layer n_layers n_positions no_rope_layer_interval no_rope_layers norm_bias norm_eps "
    "num_attention_heads num_channels num_heads num_hidden_groups num_hidden_layers "
    "num_key_value_heads num_labels num_layers num_register_tokens "
    "original_max_position_embeddings pad_token_id patch_size pos_att_type "
    "position_biased_input position_buckets position_embedding_type problem_type qkv_bias "
    "query_pre_attn_scalar relative_attention relative_attention_max_distance "
    "relative_attention_num_buckets rms_norm_eps rope_parameters rope_scaling rope_theta "
    "rope_type scale_attn_by_inverse_layer_idx scale_attn_weights scale_embedding "
    "share_att_key short_factor sliding_attention sliding_window text_config "
    "tie_word_embeddings truncate type type_vocab_size use_bidirectional_attention "
    "use_parallel_residual use_sliding_window use_swiglu_ffn vision_config vocab_size "
    "word_embed_proj_dim linear dynamic yarn longrope llama3 default gelu gelu_new relu silu "
    "BertForSequenceClassification GPT2LMHeadModel";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const headwater::Architecture model = headwater::describe(headwater::Config::parse(
        std::string_view(reinterpret_cast<const char*>(data), size), "config.json"));
    model.layer(model.layers - 1);
    if (model.rope && model.rope->size <= 4096) headwater::angles(*model.rope, 0, 3, 7);
  } catch (const headwater::Error&) {
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(data, size, most, seed, headwater::fuzz::json_change(words));
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t most,
                                            unsigned seed) {
  return headwater::fuzz::cross_json(data, size, other, other_size, out, most, seed);
}
