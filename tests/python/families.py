"""Tiny random models of every family, with odd sizes and weights large enough that attention is not uniform."""
import transformers as hf

ENCODER = dict(hidden_size=42, num_attention_heads=3, num_hidden_layers=3, intermediate_size=53,
               vocab_size=71, max_position_embeddings=40, initializer_range=0.4)
DECODER = dict(hidden_size=36, num_attention_heads=6, num_key_value_heads=2, num_hidden_layers=3,
               intermediate_size=47, vocab_size=71, max_position_embeddings=40, initializer_range=0.3)
VISION = dict(hidden_size=42, num_attention_heads=3, num_hidden_layers=3, image_size=20, patch_size=5,
              initializer_range=0.3)

DISTILLED = dict(dim=42, n_heads=3, n_layers=3, hidden_dim=53, vocab_size=71, max_position_embeddings=40,
                 initializer_range=0.4)
GPT = dict(n_embd=42, n_head=3, n_layer=3, n_positions=40, vocab_size=71, initializer_range=0.3)
OPT = dict(hidden_size=42, num_attention_heads=3, num_hidden_layers=3, ffn_dim=53, vocab_size=71,
           max_position_embeddings=40, init_std=0.3)
NEOX = dict(hidden_size=48, num_attention_heads=3, num_hidden_layers=3, intermediate_size=53, vocab_size=71,
            max_position_embeddings=40, initializer_range=0.3)
MODERN = dict(ENCODER, num_hidden_layers=4, pad_token_id=0, eos_token_id=1, bos_token_id=2, cls_token_id=2,
              sep_token_id=1, local_attention=8)
DEBERTA = dict(ENCODER, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, norm_rel_ebd="layer_norm",
               share_att_key=True, position_biased_input=False)
CLIP_TEXT = dict(hidden_size=42, num_attention_heads=3, num_hidden_layers=3, intermediate_size=53, vocab_size=71,
                 max_position_embeddings=40, initializer_factor=7.0, eos_token_id=70, bos_token_id=2)
CLIP_IMAGE = dict(hidden_size=48, num_attention_heads=4, num_hidden_layers=3, intermediate_size=53, image_size=20,
                  patch_size=5, initializer_factor=7.0)
CLIP = dict(text_config=CLIP_TEXT, vision_config=CLIP_IMAGE, projection_dim=10, initializer_factor=7.0)
T5 = dict(d_model=42, d_kv=10, num_heads=3, num_layers=3, d_ff=53, vocab_size=71, initializer_factor=1.6)
BART = dict(d_model=42, encoder_attention_heads=3, encoder_layers=3, encoder_ffn_dim=53, decoder_layers=1,
            decoder_attention_heads=3, decoder_ffn_dim=31, vocab_size=71, max_position_embeddings=40, init_std=0.4)
GEMMA = dict(DECODER, head_dim=14, query_pre_attn_scalar=14, pad_token_id=0, initializer_range=0.2)


def rope(**entries):
    return dict(rope_parameters=dict(rope_theta=500.0, **entries))


LLAMA3 = rope(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)
YARN = rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=10)

# name: class of the model, its config, what is said beside the sizes above
TEXT = {
    "bert": ("BertModel", "BertConfig", ENCODER),
    "bert-relu": ("BertModel", "BertConfig", dict(ENCODER, hidden_act="relu", layer_norm_eps=1e-5)),
    "bert-classifier": ("BertForSequenceClassification", "BertConfig", ENCODER),
    "bert-masked": ("BertForMaskedLM", "BertConfig", ENCODER),
    "bert-answers": ("BertForQuestionAnswering", "BertConfig", ENCODER),
    "bert-labels": ("BertForTokenClassification", "BertConfig", ENCODER),
    "bert-next": ("BertForNextSentencePrediction", "BertConfig", ENCODER),
    "bert-pretraining": ("BertForPreTraining", "BertConfig", dict(ENCODER, hidden_act="gelu_new")),
    "roberta": ("RobertaModel", "RobertaConfig", ENCODER),
    "roberta-masked": ("RobertaForMaskedLM", "RobertaConfig", dict(ENCODER, pad_token_id=3)),
    "roberta-classifier": ("RobertaForSequenceClassification", "RobertaConfig", ENCODER),
    "roberta-labels": ("RobertaForTokenClassification", "RobertaConfig", dict(ENCODER, num_labels=5)),
    "roberta-answers": ("RobertaForQuestionAnswering", "RobertaConfig", ENCODER),
    "distilbert": ("DistilBertModel", "DistilBertConfig",
                   dict(dim=42, n_heads=3, n_layers=3, hidden_dim=53, vocab_size=71,
                        max_position_embeddings=40, initializer_range=0.4)),
    "distilbert-classifier": ("DistilBertForSequenceClassification", "DistilBertConfig",
                              dict(dim=42, n_heads=3, n_layers=2, hidden_dim=53, vocab_size=71,
                                   initializer_range=0.4, sinusoidal_pos_embds=True)),
    "distilbert-masked": ("DistilBertForMaskedLM", "DistilBertConfig", DISTILLED),
    "distilbert-labels": ("DistilBertForTokenClassification", "DistilBertConfig", dict(DISTILLED, num_labels=4)),
    "distilbert-answers": ("DistilBertForQuestionAnswering", "DistilBertConfig", DISTILLED),
    "electra": ("ElectraModel", "ElectraConfig", dict(ENCODER, embedding_size=19)),
    "electra-wide": ("ElectraForPreTraining", "ElectraConfig", dict(ENCODER, embedding_size=42)),
    "electra-classifier": ("ElectraForSequenceClassification", "ElectraConfig",
                           dict(ENCODER, embedding_size=19, num_labels=3)),
    "electra-masked": ("ElectraForMaskedLM", "ElectraConfig", dict(ENCODER, embedding_size=19)),
    "electra-labels": ("ElectraForTokenClassification", "ElectraConfig", dict(ENCODER, embedding_size=19)),
    "electra-answers": ("ElectraForQuestionAnswering", "ElectraConfig", dict(ENCODER, embedding_size=42)),
    "albert": ("AlbertModel", "AlbertConfig", dict(ENCODER, embedding_size=19)),
    "albert-groups": ("AlbertForMaskedLM", "AlbertConfig",
                      dict(ENCODER, embedding_size=19, num_hidden_layers=5, num_hidden_groups=2)),
    "albert-classifier": ("AlbertForSequenceClassification", "AlbertConfig", dict(ENCODER, embedding_size=19)),
    "albert-labels": ("AlbertForTokenClassification", "AlbertConfig", dict(ENCODER, embedding_size=19)),
    "albert-answers": ("AlbertForQuestionAnswering", "AlbertConfig", dict(ENCODER, embedding_size=19)),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config",
             dict(n_embd=42, n_head=3, n_layer=3, n_positions=40, vocab_size=71, initializer_range=0.3)),
    "gpt2-scales": ("GPT2Model", "GPT2Config",
                    dict(n_embd=42, n_head=3, n_layer=3, n_positions=40, vocab_size=71, n_inner=61,
                         scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True,
                         reorder_and_upcast_attn=True, activation_function="relu",
                         initializer_range=0.2)),
    "gpt2-classifier": ("GPT2ForSequenceClassification", "GPT2Config", dict(GPT, pad_token_id=3, num_labels=3)),
    "gpt2-labels": ("GPT2ForTokenClassification", "GPT2Config", GPT),
    "gpt2-answers": ("GPT2ForQuestionAnswering", "GPT2Config", GPT),
    "gpt2-untied": ("GPT2LMHeadModel", "GPT2Config", dict(GPT, tie_word_embeddings=False)),
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER),
    "llama-biases": ("LlamaModel", "LlamaConfig",
                     dict(DECODER, attention_bias=True, mlp_bias=True, head_dim=10)),
    "llama-linear": ("LlamaModel", "LlamaConfig", dict(DECODER, **rope(rope_type="linear", factor=3.0))),
    "llama-dynamic": ("LlamaModel", "LlamaConfig",
                      dict(DECODER, max_position_embeddings=9, **rope(rope_type="dynamic", factor=2.0))),
    "llama-llama3": ("LlamaForSequenceClassification", "LlamaConfig", dict(DECODER, head_dim=16, **LLAMA3)),
    "llama-yarn": ("LlamaForQuestionAnswering", "LlamaConfig", dict(DECODER, head_dim=16, **YARN)),
    "llama-labels": ("LlamaForTokenClassification", "LlamaConfig", DECODER),
    "mistral": ("MistralForCausalLM", "MistralConfig", dict(DECODER, sliding_window=5)),
    "mistral-full": ("MistralModel", "MistralConfig", dict(DECODER, sliding_window=None)),
    "mistral-classifier": ("MistralForSequenceClassification", "MistralConfig", dict(DECODER, sliding_window=7)),
    "mistral-answers": ("MistralForQuestionAnswering", "MistralConfig", DECODER),
    "xlm-roberta": ("XLMRobertaForSequenceClassification", "XLMRobertaConfig", ENCODER),
    "xlm-roberta-masked": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", dict(ENCODER, type_vocab_size=1)),
    "camembert": ("CamembertForMaskedLM", "CamembertConfig", ENCODER),
    "camembert-labels": ("CamembertForTokenClassification", "CamembertConfig", dict(ENCODER, num_labels=4)),
    "mpnet": ("MPNetModel", "MPNetConfig", ENCODER),
    "mpnet-masked": ("MPNetForMaskedLM", "MPNetConfig", ENCODER),
    "mpnet-classifier": ("MPNetForSequenceClassification", "MPNetConfig", dict(ENCODER, layer_norm_eps=1e-5)),
    "mpnet-answers": ("MPNetForQuestionAnswering", "MPNetConfig", ENCODER),
    "modernbert": ("ModernBertModel", "ModernBertConfig", MODERN),
    "modernbert-masked": ("ModernBertForMaskedLM", "ModernBertConfig", MODERN),
    "modernbert-classifier": ("ModernBertForSequenceClassification", "ModernBertConfig",
                              dict(MODERN, num_labels=3, classifier_pooling="mean", classifier_bias=True,
                                   norm_bias=True, attention_bias=True, mlp_bias=True, decoder_bias=False)),
    "modernbert-first": ("ModernBertForSequenceClassification", "ModernBertConfig",
                         dict(MODERN, layer_types=["sliding_attention", "full_attention"] * 2, local_attention=5,
                              rope_parameters={"full_attention": dict(rope_type="linear", factor=2.0, rope_theta=900.0),
                                               "sliding_attention": dict(rope_type="default", rope_theta=70.0)})),
    "modernbert-labels": ("ModernBertForTokenClassification", "ModernBertConfig",
                          dict(MODERN, num_labels=4, classifier_activation="relu", hidden_activation="silu")),
    "modernbert-answers": ("ModernBertForQuestionAnswering", "ModernBertConfig", MODERN),
    "deberta": ("DebertaV2Model", "DebertaV2Config", DEBERTA),
    "deberta-masked": ("DebertaV2ForMaskedLM", "DebertaV2Config", DEBERTA),
    "deberta-words": ("DebertaV2ForMaskedLM", "DebertaV2Config", dict(DEBERTA, legacy=False)),
    "deberta-classifier": ("DebertaV2ForSequenceClassification", "DebertaV2Config",
                           dict(DEBERTA, share_att_key=False, position_buckets=-1, max_relative_positions=9,
                                type_vocab_size=2, position_biased_input=True, num_labels=3)),
    "deberta-labels": ("DebertaV2ForTokenClassification", "DebertaV2Config",
                       dict(DEBERTA, pos_att_type="c2p", norm_rel_ebd="none", share_att_key=False, num_labels=4)),
    "deberta-answers": ("DebertaV2ForQuestionAnswering", "DebertaV2Config", dict(DEBERTA, pos_att_type="p2c")),
    "deberta-absolute": ("DebertaV2ForSequenceClassification", "DebertaV2Config",
                         dict(ENCODER, pooler_hidden_act="tanh")),
    "deberta-convolution": ("DebertaV2ForSequenceClassification", "DebertaV2Config",
                            dict(DEBERTA, conv_kernel_size=3, conv_act="gelu")),
    "deberta-convolution-groups": ("DebertaV2ForMaskedLM", "DebertaV2Config",
                                   dict(DEBERTA, conv_kernel_size=5, conv_groups=3, norm_rel_ebd="none")),
    "deberta-convolution-absolute": ("DebertaV2ForTokenClassification", "DebertaV2Config",
                                     dict(ENCODER, conv_kernel_size=1, conv_groups=42, conv_act="relu")),
    "t5": ("T5EncoderModel", "T5Config", T5),
    "t5-gated": ("T5ForTokenClassification", "T5Config",
                 dict(T5, feed_forward_proj="gated-gelu", num_labels=4, relative_attention_num_buckets=12,
                      relative_attention_max_distance=20)),
    "t5-both": ("T5ForConditionalGeneration", "T5Config", dict(T5, feed_forward_proj="gated-silu")),
    "mt5": ("MT5EncoderModel", "MT5Config", dict(T5, feed_forward_proj="gated-gelu")),
    "bart": ("BartModel", "BartConfig", BART),
    "bart-both": ("BartForConditionalGeneration", "BartConfig", dict(BART, scale_embedding=True)),
    "mbart": ("MBartModel", "MBartConfig", BART),
    "clip-text": ("CLIPTextModel", "CLIPTextConfig", CLIP_TEXT),
    "clip": ("CLIPModel", "CLIPConfig", CLIP),
    "siglip-text": ("SiglipTextModel", "SiglipTextConfig", dict(CLIP_TEXT, hidden_act="gelu")),
    "opt": ("OPTForCausalLM", "OPTConfig", OPT),
    "opt-after": ("OPTModel", "OPTConfig", dict(OPT, do_layer_norm_before=False, enable_bias=False)),
    "opt-narrow": ("OPTForCausalLM", "OPTConfig", dict(OPT, word_embed_proj_dim=18, do_layer_norm_before=False)),
    "opt-narrow-classifier": ("OPTForSequenceClassification", "OPTConfig", dict(OPT, word_embed_proj_dim=18)),
    "opt-classifier": ("OPTForSequenceClassification", "OPTConfig", dict(OPT, _remove_final_layer_norm=True)),
    "opt-answers": ("OPTForQuestionAnswering", "OPTConfig", dict(OPT, activation_function="gelu")),
    "neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", NEOX),
    "neox-serial": ("GPTNeoXForTokenClassification", "GPTNeoXConfig",
                    dict(NEOX, use_parallel_residual=False, attention_bias=False)),
    "neox-full": ("GPTNeoXForSequenceClassification", "GPTNeoXConfig",
                  dict(NEOX, **rope(rope_type="linear", factor=2.0, partial_rotary_factor=1.0))),
    "neox-answers": ("GPTNeoXForQuestionAnswering", "GPTNeoXConfig", dict(NEOX, hidden_act="gelu_new")),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", dict(DECODER, pad_token_id=0)),
    "phi3-part": ("Phi3ForSequenceClassification", "Phi3Config",
                  dict(DECODER, pad_token_id=0, hidden_size=48, sliding_window=5,
                       **rope(rope_type="default", partial_rotary_factor=0.5))),
    "phi3-long": ("Phi3ForCausalLM", "Phi3Config",
                  dict(DECODER, pad_token_id=0, original_max_position_embeddings=12,
                       **rope(rope_type="longrope", short_factor=[1.0, 1.1, 1.3], long_factor=[1.5, 2.0, 4.0]))),
    "phi3-short": ("Phi3Model", "Phi3Config",
                   dict(DECODER, pad_token_id=0, original_max_position_embeddings=30,
                        **rope(rope_type="longrope", short_factor=[1.0, 1.1, 1.3], long_factor=[1.5, 2.0, 4.0]))),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", dict(DECODER, pad_token_id=0, no_rope_layer_interval=2)),
    "smollm3-window": ("SmolLM3ForQuestionAnswering", "SmolLM3Config",
                       dict(DECODER, pad_token_id=0, no_rope_layers=[0, 1, 1], use_sliding_window=True,
                            sliding_window=4, attention_bias=True, mlp_bias=True)),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", DECODER),
    "olmo2-biases": ("Olmo2Model", "Olmo2Config", dict(DECODER, attention_bias=True)),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config",
               dict(GEMMA, sliding_window=5, attn_logit_softcapping=2.0, final_logit_softcapping=3.0)),
    "gemma2-uncapped": ("Gemma2ForSequenceClassification", "Gemma2Config",
                        dict(GEMMA, attn_logit_softcapping=None, attention_bias=True, query_pre_attn_scalar=9)),
    "gemma2-labels": ("Gemma2ForTokenClassification", "Gemma2Config", dict(GEMMA, attn_logit_softcapping=1.5)),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", GEMMA),
    "gemma3-windows": ("Gemma3TextForSequenceClassification", "Gemma3TextConfig",
                       dict(GEMMA, sliding_window=4, attention_bias=True, query_pre_attn_scalar=9,
                            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                            rope_parameters={"full_attention": dict(rope_type="linear", factor=8.0, rope_theta=900.0),
                                             "sliding_attention": dict(rope_type="default", rope_theta=70.0)})),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", dict(DECODER, tie_word_embeddings=True)),
    "qwen2-window": ("Qwen2Model", "Qwen2Config",
                     dict(DECODER, use_sliding_window=True, sliding_window=4, max_window_layers=1)),
    "qwen2-classifier": ("Qwen2ForSequenceClassification", "Qwen2Config", DECODER),
    "qwen2-answers": ("Qwen2ForQuestionAnswering", "Qwen2Config", DECODER),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", dict(DECODER, head_dim=14)),
    "qwen3-window": ("Qwen3ForTokenClassification", "Qwen3Config",
                     dict(DECODER, head_dim=14, attention_bias=True, use_sliding_window=True,
                          sliding_window=6, max_window_layers=2)),
}

IMAGES = {
    "vit": ("ViTModel", "ViTConfig", dict(VISION, intermediate_size=53), (20, 20)),
    "vit-classifier": ("ViTForImageClassification", "ViTConfig",
                       dict(VISION, intermediate_size=53, qkv_bias=False), (20, 20)),
    "deit": ("DeiTForImageClassificationWithTeacher", "DeiTConfig",
             dict(VISION, intermediate_size=53), (20, 20)),
    "deit-alone": ("DeiTForImageClassification", "DeiTConfig", dict(VISION, intermediate_size=53, num_labels=4),
                   (20, 20)),
    "dinov2": ("Dinov2Model", "Dinov2Config", dict(VISION, mlp_ratio=2), (20, 20)),
    "dinov2-stretched": ("Dinov2ForImageClassification", "Dinov2Config", VISION, (15, 35)),
    "dinov2-gated-classifier": ("Dinov2ForImageClassification", "Dinov2Config", dict(VISION, use_swiglu_ffn=True),
                                (20, 20)),
    "dinov2-shrunk": ("Dinov2Model", "Dinov2Config", dict(VISION, image_size=40), (20, 25)),
    "dinov2-gated": ("Dinov2Model", "Dinov2Config", dict(VISION, use_swiglu_ffn=True), (20, 20)),
    "clip-image": ("CLIPVisionModel", "CLIPVisionConfig", CLIP_IMAGE, (20, 20)),
    "clip-both": ("CLIPModel", "CLIPConfig", CLIP, (20, 20)),
    "clip-classifier": ("CLIPForImageClassification", "CLIPConfig", dict(CLIP, num_labels=4), (20, 20)),
    "siglip-image": ("SiglipVisionModel", "SiglipVisionConfig", CLIP_IMAGE, (20, 20)),
    "siglip-classifier": ("SiglipForImageClassification", "SiglipConfig", dict(CLIP, num_labels=4), (20, 20)),
    "registers": ("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig",
                  dict(VISION, num_register_tokens=3), (20, 20)),
    "registers-stretched": ("Dinov2WithRegistersForImageClassification", "Dinov2WithRegistersConfig",
                            dict(VISION, num_register_tokens=2), (35, 15)),
    "registers-shrunk": ("Dinov2WithRegistersModel", "Dinov2WithRegistersConfig",
                         dict(VISION, image_size=40), (15, 25)),
}


def make(kind, config, entries, seed=0):
    """The model, with biases, norms and scales that differ from 0 and 1, so that a forgotten one shows."""
    import torch
    torch.manual_seed(seed)
    model = getattr(hf, kind)(getattr(hf, config)(**entries)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    model.set_attn_implementation("eager")
    return model
