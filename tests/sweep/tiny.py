"""Tiny configs and inputs for any model type of transformers: the same layers, a few numbers each."""
import re

import torch
import transformers as hf

SMALL = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "embed_dim": 32, "emb_dim": 32, "hidden_dim": 32,
    "model_dim": 32, "width": 32, "embedding_size": 32, "word_embed_dim": 32, "encoder_hidden_size": 32,
    "decoder_hidden_size": 32, "projection_dim": 32, "proj_dim": 32, "text_hidden_size": 32, "mm_hidden_size": 32,
    "out_hidden_size": 32, "lm_hidden_size": 32, "qformer_hidden_size": 32, "cross_hidden_size": 32, "d_text": 32,
    "intermediate_size": 48, "ffn_dim": 48, "d_ff": 48, "n_inner": 48, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24, "feed_forward_hidden_size": 48,
    "ffn_hidden_size": 48, "mlp_dim": 48, "dim_feedforward": 48, "moe_shared_expert_intermediate_size": 24,
    "block_ff_dim": 48, "feedforward_size": 48, "dense_ffn_hidden_size": 48, "expert_ffn_hidden_size": 24,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "d_kv": 8,
    "num_self_attention_heads": 4, "num_cross_attention_heads": 4, "num_decoder_attention_heads": 4,
    "num_encoder_attention_heads": 4, "attention_head_dim": 8, "kv_channels": 8, "decoder_num_attention_heads": 4,
    "global_head_dim": 8, "num_global_key_value_heads": 2, "encoder_num_attention_heads": 4,
    "vocab_size": 120, "max_position_embeddings": 128, "n_positions": 128, "n_ctx": 128, "max_source_positions": 64,
    "max_target_positions": 64, "type_vocab_size": 2, "image_size": 32, "patch_size": 8, "img_size": 32,
    "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "moe_num_experts": 4, "num_experts_per_tok": 2, "num_experts_per_token": 2,
    "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "moe_topk": 2, "moe_k": 2, "sliding_window": 8,
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
    "index_head_dim": 8, "index_n_heads": 2, "index_topk": 64, "mamba_d_state": 8, "mamba_n_heads": 4,
    "mamba_d_head": 16, "mamba_num_heads": 8, "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 1,
    "mamba_n_groups": 1, "state_size": 8, "time_step_rank": 4, "mamba_dt_rank": 4, "conv_dim": (32, 32),
    "num_mel_bins": 16, "num_feature_levels": 2, "num_queries": 6, "query_length": 6, "num_query_tokens": 4,
    "num_latents": 6, "d_latents": 32, "lru_width": 32, "local_attention": 8, "max_2d_position_embeddings": 1024,
    "input_feat_per_channel": 16, "cross_attention_hidden_size": 32, "attention_hidden_size": 32, "entity_vocab_size": 20, "entity_emb_size": 16, "input_channels": 1, "max_length": 64, "vision_feature_layer": -1,
    "codebook_size": 64, "pooler_hidden_size": 32, "num_codebooks": 2, "audio_vocab_size": 120, "vocab_size_per_layer_input": 120,
    "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 0, "laurel_rank": 4, "d_cross": 32, "n_audio_state": 32,
    "dim_head": 8, "attn_dim": 32, "encoder_embed_dim": 32, "decoder_embed_dim": 32, "out_features": None,
    "mup_width_multiplier": 1.0, "depth_image_size": 32, "num_frames": 4,
    "vision_hidden_size": 32, "codec_embed_dim": 32, "qk_head_dim": 8, "rotary_dim": 8, "kda_num_heads": 4, "kda_head_dim": 8,
}
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "depth",
          "num_decoder_layers", "num_encoder_layers", "n_encoder_layers", "n_decoder_layers", "encoder_num_layers",
          "decoder_num_layers", "decoder_num_hidden_layers", "encoder_num_hidden_layers", "num_self_attends_per_block",
          "encoder_num_hidden_layers", "num_transformer_layers", "num_nextn_predict_layers")
BY_LAYER = ("layer_types", "layers_block_type", "mlp_layer_types", "attention_types")
SPECIAL = ("pad_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id",
           "decoder_start_token_id", "forced_eos_token_id", "forced_bos_token_id", "unk_token_id")
SECTIONS = "vl|glm4v|glm46v|glm_ocr|glm_image|omni|mrope"  # models whose rotary positions have three parts
IMAGE_TOKEN = 100
MOST_PARAMETERS = 160_000_000
# What shrinks even where widths stay.
COUNTS = ("vocab_size", "audio_vocab_size", "vocab_size_per_layer_input", "entity_vocab_size", "num_experts", "num_local_experts",
          "n_routed_experts", "moe_num_experts", "num_experts_per_tok", "n_shared_experts", "n_group", "topk_group",
          "moe_topk", "moe_k", "num_codebooks", "text_vocab_size", "num_key_value_groups")
LARGER = {"head_dim": 16, "num_key_value_heads": 1, "sliding_window": 8, "intermediate_size": 48}  # of single layers
# What only one type of model calls so; a dot leads into a config inside.
SERIES = {"prediction_length": 4, "context_length": 8}
BY_TYPE = {
    "autoformer": SERIES, "informer": SERIES, "time_series_transformer": SERIES,
    "bailing_hybrid": {"n_group": 1, "topk_group": 1, "group_norm_size": 1},
    "bamba": {"attn_layer_indices": [1]},
    "blip-2": {"image_token_index": 100},
    "chameleon": {"vocabulary_map": {"<image>": 100}},
    "cohere_compass_text": {"rope_parameters": {kind: {"rope_type": "default", "rope_theta": 10000.0}
                                                for kind in ("full_attention", "sliding_attention")}},
    "dbrx": {"attn_config.rope_theta": 10000.0, "attn_config.clip_qkv": 8.0},
    "diffusion_gemma_text": {"num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 24},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1},
    "emu3": {"vocabulary_map": {"<image>": 100}},
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_n_heads": 4, "mamba_d_head": 16},
    "granitemoehybrid": {"layer_types": ["linear_attention", "full_attention"]},
    "instructblip": {"image_token_index": 100}, "instructblipvideo": {"video_token_index": 100},
    "kimi_linear": {"num_experts_per_token": 2, "num_expert_group": 1, "topk_group": 1},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "mimi": {"upsample_groups": 32, "kernel_size": 7}, "kyutai_speech_to_text": {"codec_config.upsample_groups": 32},
    "csm": {"codec_config.upsample_groups": 32}, "pocket_tts_audio_tokenizer": {"upsample_groups": 32},
    "mistral4": {"head_dim": 16},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 111, "audio_start_token_id": 112},
    "qwen4_exp_text": {"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 64,
                       "indexer_compress_ratio": 4},
    "reformer": {"axial_pos_embds_dim": (16, 16), "axial_pos_shape": (8, 16)},
    "zamba2": {"attention_head_dim": 16, "attention_hidden_size": 64, "mamba_headdim": 8, "n_mamba_heads": 8},
}


def shrink(config, widths=True, seen=None):
    """Makes a config and those inside it small, in place; with `widths` False only in layers, words and experts."""
    seen = set() if seen is None else seen
    if id(config) in seen:
        return config
    seen.add(id(config))
    layers = 2
    each = layer_by_layer(config)
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    if isinstance(kinds, list) and len(set(kinds)) > 1:
        layers = min(len(kinds), 1 + max(kinds.index(kind) for kind in set(kinds)))
        if layers > 8:
            kinds = list(dict.fromkeys(kinds))
            layers = max(2, len(kinds))
    for name, value in list(vars(config).items()):
        if isinstance(value, hf.PretrainedConfig):
            shrink(value, widths, seen)
        elif name in ("layer_types", "layers_block_type") and isinstance(value, list) and value:
            put(config, name, (kinds * layers)[:layers])
        elif name in LAYERS and isinstance(value, int):
            put(config, name, layers if value else 0)
        elif name == "attn_layer_indices" and isinstance(value, list):
            put(config, name, [layers - 1])
        elif not widths and name not in COUNTS and name not in SPECIAL and not name.endswith(("token_id", "token_index")):
            continue
        elif name in SMALL and isinstance(value, (int, float)) and not isinstance(value, bool) and value:
            small = SMALL[name]
            put(config, name, small if not isinstance(small, int) or value > small or name == "max_length" else value)
        elif name in BY_LAYER and isinstance(value, list):
            put(config, name, value[:layers])
        elif name in SPECIAL and isinstance(value, int) and value >= 100:
            put(config, name, 3 + SPECIAL.index(name))
        elif name.endswith(("token_id", "token_index")) and isinstance(value, int) and value >= 100:
            ids = sorted(key for key in vars(config) if key.endswith(("token_id", "token_index")))
            put(config, name, IMAGE_TOKEN + ids.index(name) % 15)
        elif name == "depths" and isinstance(value, (list, tuple)):
            put(config, name, [2] + [1] * (stages(config, value) - 1))
        elif name in ("num_heads", "num_attention_heads") and isinstance(value, (list, tuple)):
            put(config, name, [2, 4, 8, 16, 16, 16][:stages(config, value)])
        elif name == "window_size" and isinstance(value, int):
            put(config, name, 32 if hasattr(config, "spatial_merge_size") else 4)
        elif name == "image_size" and isinstance(value, (list, tuple)):
            put(config, name, [32, 32])
        elif name == "default_language" and value is None:
            put(config, name, config.languages[0])
    settle(config, widths)
    if each:
        config.per_layer_config = {k: {name: LARGER.get(name, value) if widths else value for name, value in one.items()}
                                   for k, one in each.items() if k < layers}
    for name, value in BY_TYPE.get(getattr(config, "model_type", ""), {}).items():
        *inside, last = name.split(".")
        owner = config
        for part in inside:
            owner = getattr(owner, part)
        put(owner, last, value)
    return config


def layer_by_layer(config):
    """What a config says of single layers (Gemma 4), which it then no longer does."""
    spec = vars(config).get("_heterogeneity_spec")
    each = {} if spec is None else dict(spec.per_layer_overrides)
    if each:
        config.per_layer_config = None
    return each


def settle(config, widths):
    """What must fit together, and settings that would blur a comparison."""
    unset = (("vocab_size", 120), ("num_key_value_heads", 4), ("head_dim", 8), ("num_experts_per_tok", 2))
    for name, value in unset if widths else ():
        if getattr(config, name, 0) is None and isinstance(getattr(config, "hidden_size", None), int):
            put(config, name, value)
    rope = getattr(config, "rope_parameters", None)
    if widths and isinstance(rope, dict) and re.search(SECTIONS, f"{config.model_type} {rope}"):
        half = int(8 * (rope.get("partial_rotary_factor") or getattr(config, "partial_rotary_factor", 1) or 1)) // 2
        third = half // 3
        rope["mrope_section"] = [third, third, half - 2 * third] if "ernie" in config.model_type else [half - 2 * third, third, third]
    if widths and getattr(config, "qk_head_dim", None) and getattr(config, "qk_rope_head_dim", None):
        put(config, "qk_head_dim", config.qk_nope_head_dim + config.qk_rope_head_dim)
    if getattr(config, "is_encoder_decoder", False) and getattr(config, "decoder_start_token_id", None) is None:
        put(config, "decoder_start_token_id", 2)
    if getattr(config, "pad_token_id", 0) is None:
        put(config, "pad_token_id", 0)
    if widths and getattr(config, "kv_lora_rank", None) and isinstance(getattr(config, "num_attention_heads", None), int):
        put(config, "num_key_value_heads", config.num_attention_heads)
    heads, groups = getattr(config, "num_attention_heads", 0), getattr(config, "num_key_value_heads", 0)
    if isinstance(heads, int) and isinstance(groups, int) and groups and heads % groups:
        put(config, "num_key_value_heads", heads)
    for name, value in (("attention_dropout", 0.0), ("layerdrop", 0.0), ("apply_spec_augment", False),
                        ("encoder_layerdrop", 0.0), ("initializer_range", 0.2), ("init_std", 0.2), ("init_range", 0.2)):
        if hasattr(config, name) and (widths or not name.startswith("init")):
            put(config, name, value)


def stages(config, each):
    """How many stages of a pyramid fit: two where windows need room."""
    return 2 if hasattr(config, "window_size") and not hasattr(config, "num_groups") else len(each)


def put(config, name, value):
    try:
        setattr(config, name, value)
    except Exception:  # a property without a setter, or a check of its own
        pass


def build(kind, attention, widths=True):
    """A tiny random model of a class. Raises if it cannot be made small."""
    def config():
        out = shrink(kind.config_class(), widths)
        out._attn_implementation = attention
        return out

    with torch.device("meta"):
        size = sum(one.numel() for one in kind(config()).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"has {size} parameters although its config was shrunk")
    torch.manual_seed(3)
    return kind(config()).eval()


def ready(kind, attention="eager"):
    """A tiny model of a class, the name of the inputs that it runs with, and these inputs.

    Where small widths do not fit together, the widths of the class's own config are taken.
    """
    from tiny_inputs import runnable
    errors = []
    for widths in (True, False):
        try:
            model = build(kind, attention, widths)
            return model, *runnable(model, False)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
    raise ValueError(" ||| ".join(error[:240] for error in errors))
