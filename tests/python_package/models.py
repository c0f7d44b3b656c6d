"""Tiny random models of the families that people use, with weights large enough that attention is not uniform."""
import torch
import transformers as hf

SIZES = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48, vocab_size=90,
             initializer_range=0.2, pad_token_id=0)
GROUPED = dict(SIZES, num_key_value_heads=2)
VISION = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48, image_size=24,
              patch_size=8, initializer_range=0.2)
ENDS = dict(bos_token_id=1, eos_token_id=2)

# name: class, config, what the config is told. Soft cap, window and sinks are such that they matter.
TEXT = {
    "bert": ("BertModel", "BertConfig", SIZES),
    "roberta": ("RobertaModel", "RobertaConfig", SIZES),
    "distilbert": ("DistilBertModel", "DistilBertConfig",
                   dict(dim=32, n_layers=3, n_heads=4, hidden_dim=48, vocab_size=90, initializer_range=0.2)),
    "electra": ("ElectraModel", "ElectraConfig", SIZES),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config",
             dict(n_embd=32, n_layer=3, n_head=4, vocab_size=90, initializer_range=0.2, **ENDS)),
    "llama": ("LlamaForCausalLM", "LlamaConfig", dict(GROUPED, **ENDS)),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", dict(GROUPED, **ENDS)),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", dict(GROUPED, head_dim=8, **ENDS)),
    "mistral": ("MistralForCausalLM", "MistralConfig", dict(GROUPED, sliding_window=5, **ENDS)),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config",
               dict(GROUPED, head_dim=8, attn_logit_softcapping=1.5, query_pre_attn_scalar=1, sliding_window=5,
                    **ENDS)),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", dict(SIZES, **ENDS)),
    "modernbert": ("ModernBertModel", "ModernBertConfig",
                   dict(SIZES, local_attention=6, cls_token_id=1, sep_token_id=2, **ENDS)),
    "t5": ("T5EncoderModel", "T5Config",
           dict(d_model=32, d_kv=8, num_layers=3, num_heads=4, d_ff=48, vocab_size=90, initializer_factor=0.7)),
    "gpt_oss": ("GptOssForCausalLM", "GptOssConfig",
                dict(GROUPED, head_dim=8, num_local_experts=2, num_experts_per_tok=1, sliding_window=5, **ENDS)),
}
IMAGES = {
    "vit": ("ViTModel", "ViTConfig", VISION),
    "deit": ("DeiTModel", "DeiTConfig", VISION),
}
T5 = ("T5ForConditionalGeneration", "T5Config",
      dict(d_model=32, d_kv=8, num_layers=3, num_decoder_layers=2, num_heads=4, d_ff=48, vocab_size=90,
           initializer_factor=0.7, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))
BART = ("BartForConditionalGeneration", "BartConfig",
        dict(d_model=32, encoder_layers=3, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
             encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=90, init_std=0.2, pad_token_id=0, bos_token_id=1,
             eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None))
EAGER_ONLY = ("gemma2", "gpt_oss")  # sdpa knows neither soft caps nor sinks


def make(kind, config, words, attention="eager"):
    torch.manual_seed(3)
    settings = getattr(hf, config)(**words)
    settings._attn_implementation = attention
    model = getattr(hf, kind)(settings).eval()
    for module in model.modules():
        if hasattr(module, "sinks"):
            torch.nn.init.normal_(module.sinks, mean=1.0)
        if kind.startswith("T5") and hasattr(module, "relative_attention_bias"):
            torch.nn.init.normal_(module.relative_attention_bias.weight)
    return model


def ids_and_mask(side, length=13, real=9):
    """Two texts, the second shorter and padded on `side`, or not ("none"); and where its real tokens are."""
    ids = torch.randint(5, 90, (2, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    where = dict(right=slice(0, real), left=slice(length - real, length), none=slice(0, length))[side]
    mask[1] = 0
    mask[1, where] = 1
    return ids, mask, where
