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
    "opt": ("OPTForCausalLM", "OPTConfig", OPT),
    "opt-after": ("OPTModel", "OPTConfig", dict(OPT, do_layer_norm_before=False, enable_bias=False)),
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
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", dict(DECODER, pad_token_id=0, no_rope_layer_interval=2)),
    "smollm3-window": ("SmolLM3ForQuestionAnswering", "SmolLM3Config",
                       dict(DECODER, pad_token_id=0, no_rope_layers=[0, 1, 1], use_sliding_window=True,
                            sliding_window=4, attention_bias=True, mlp_bias=True)),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", DECODER),
    "olmo2-biases": ("Olmo2Model", "Olmo2Config", dict(DECODER, attention_bias=True)),
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
