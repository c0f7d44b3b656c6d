"""Tiny configs and inputs for any model type of transformers: the same layers, a few numbers each."""
import inspect
import re

import torch
import transformers as hf

LENGTH, REAL = 13, 9
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
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "moe_num_experts": 4, "num_experts_per_tok": 2,
    "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "moe_topk": 2, "moe_k": 2, "sliding_window": 8,
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
    "index_head_dim": 8, "index_n_heads": 2, "index_topk": 64, "mamba_d_state": 8, "mamba_n_heads": 4,
    "mamba_d_head": 16, "mamba_num_heads": 8, "mamba_head_dim": 8, "ssm_state_size": 8, "n_groups": 1,
    "mamba_n_groups": 1, "state_size": 8, "time_step_rank": 4, "mamba_dt_rank": 4, "conv_dim": (32, 32),
    "num_mel_bins": 16, "num_feature_levels": 2, "num_queries": 6, "query_length": 6, "num_query_tokens": 4,
    "num_latents": 6, "d_latents": 32, "lru_width": 32, "local_attention": 8, "max_2d_position_embeddings": 1024,
    "input_feat_per_channel": 16, "input_channels": 1, "max_length": 64, "vision_feature_layer": -1,
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
MOST_PARAMETERS = 40_000_000


def shrink(config, seen=None):
    """Makes a config and those inside it small, in place."""
    seen = set() if seen is None else seen
    if id(config) in seen:
        return config
    seen.add(id(config))
    layers = 2
    kinds = getattr(config, "layer_types", None) or getattr(config, "layers_block_type", None)
    if isinstance(kinds, list) and len(set(kinds)) > 1:
        layers = min(len(kinds), 1 + max(kinds.index(kind) for kind in set(kinds)))
        layers = layers if layers <= 8 else 4
    for name, value in list(vars(config).items()):
        if isinstance(value, hf.PretrainedConfig):
            shrink(value, seen)
        elif name in LAYERS and isinstance(value, int):
            put(config, name, layers if value else 0)
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
            put(config, name, 4)
        elif name == "image_size" and isinstance(value, (list, tuple)):
            put(config, name, [32, 32])
        elif name == "default_language" and value is None:
            put(config, name, config.languages[0])
    for name, value in (("vocab_size", 120), ("num_key_value_heads", 4), ("head_dim", 8), ("num_experts_per_tok", 2)):
        if getattr(config, name, 0) is None and isinstance(getattr(config, "hidden_size", None), int):
            put(config, name, value)
    rope = getattr(config, "rope_parameters", None)
    if isinstance(rope, dict) and re.search(SECTIONS, f"{config.model_type} {rope}"):
        half = int(8 * (rope.get("partial_rotary_factor") or getattr(config, "partial_rotary_factor", 1) or 1)) // 2
        rope["mrope_section"] = [half - 2 * (half // 3), half // 3, half // 3]
    if getattr(config, "is_encoder_decoder", False) and getattr(config, "decoder_start_token_id", 0) is None:
        put(config, "decoder_start_token_id", 2)
    if getattr(config, "pad_token_id", 0) is None:
        put(config, "pad_token_id", 0)
    if getattr(config, "kv_lora_rank", None) and isinstance(getattr(config, "num_attention_heads", None), int):
        put(config, "num_key_value_heads", config.num_attention_heads)
    heads, groups = getattr(config, "num_attention_heads", 0), getattr(config, "num_key_value_heads", 0)
    if isinstance(heads, int) and isinstance(groups, int) and groups and heads % groups:
        put(config, "num_key_value_heads", heads)
    for name, value in (("attention_dropout", 0.0), ("layerdrop", 0.0), ("apply_spec_augment", False),
                        ("encoder_layerdrop", 0.0), ("initializer_range", 0.2), ("init_std", 0.2), ("init_range", 0.2)):
        if hasattr(config, name):
            put(config, name, value)
    return config


def stages(config, each):
    """How many stages of a pyramid fit: two where windows need room."""
    return 2 if hasattr(config, "window_size") else len(each)


def put(config, name, value):
    try:
        setattr(config, name, value)
    except Exception:  # a property without a setter, or a check of its own
        pass


def build(kind, attention):
    """A tiny random model of a class, or None if it cannot be made small."""
    config = shrink(kind.config_class())
    config._attn_implementation = attention
    with torch.device("meta"):
        size = sum(one.numel() for one in kind(config).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"has {size} parameters although its config was shrunk")
    torch.manual_seed(3)
    config = shrink(kind.config_class())
    config._attn_implementation = attention
    return kind(config).eval()


def takes(model):
    return inspect.signature(model.forward).parameters


def image_of(model):
    """Pixels of a size that the model's config names."""
    configs = [getattr(model.config, name, None) for name in ("vision_config", "backbone_config", "encoder")]
    for config in [*filter(None, configs), model.config]:
        size = getattr(config, "image_size", None) or getattr(config, "img_size", None)
        if size:
            size = size if isinstance(size, (list, tuple)) else (size, size)
            return int(getattr(config, "num_channels", 3) or 3), int(size[0]), int(size[-1])
    return 3, 32, 32


def inputs_of(model, padded):
    """Inputs that a model may take, the likely ones first: pairs of a name and keywords."""
    parameters = takes(model)
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(12, 90, (2, LENGTH), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        mask[1, REAL:] = 0
    text = {}
    if "input_ids" in parameters:
        text["input_ids"] = ids
        if "attention_mask" in parameters:
            text["attention_mask"] = mask
    decodes = "decoder_input_ids" in parameters and "ForSequenceClassification" not in type(model).__name__
    if decodes and (getattr(model.config, "is_encoder_decoder", False) or not text):
        text["decoder_input_ids"] = ids[:, :6] + 1
    channels, high, wide = image_of(model)
    pixels = torch.randn(2, channels, high, wide, generator=generator)
    sound = torch.randn(2, 16, 128, generator=generator)
    wave = torch.randn(2, 4000, generator=generator)
    out = []
    if "image_grid_thw" in parameters and text:
        out.append(("text and patches", patches_of(model, text, generator)))
    if "pixel_values" in parameters and text:
        out.append(("text and image", dict(text, pixel_values=pixels)))
        out.append(("text and images", dict(text, pixel_values=pixels[:, None])))
    if text:
        out.append(("text", text))
    if "bbox" in parameters and text:
        box = torch.randint(0, 40, (2, LENGTH, 4), generator=generator)
        box[..., 2:] += box[..., :2]
        out.insert(0, ("text and boxes", dict(text, bbox=box)))
    rest = {"decoder_input_ids": ids[:, :6] + 1} if "decoder_input_ids" in parameters else {}
    if "pixel_values" in parameters:
        out += [("image", dict(pixel_values=pixels)), ("image and text", dict(pixel_values=pixels, **rest))]
    if "pixel_values_videos" in parameters:
        out.append(("video", dict(pixel_values_videos=torch.randn(2, 4, 3, high, wide, generator=generator))))
    if "pixel_values" in parameters:
        out.append(("video", dict(pixel_values=torch.randn(2, 4, 3, high, wide, generator=generator))))
    if "input_features" in parameters:
        out += [("sound", dict(input_features=sound, **rest)),
                ("sound", dict(input_features=sound.transpose(1, 2).contiguous(), **rest))]
    if "input_values" in parameters:
        heard = dict(input_values=wave, **rest)
        if "attention_mask" in parameters and padded:
            heard["attention_mask"] = torch.ones(2, 4000, dtype=torch.long)
            heard["attention_mask"][1, 2500:] = 0
        out += [("wave", heard), ("wave", dict(input_values=sound.transpose(1, 2).contiguous()))]
    return out


def patches_of(model, text, generator):
    """Two images of 4 x 4 patches in one list, as the models of the Qwen family take them."""
    config = getattr(model.config, "vision_config", model.config)
    size, times = getattr(config, "patch_size", 8), getattr(config, "temporal_patch_size", 1) or 1
    merge = getattr(config, "spatial_merge_size", 2) or 2
    channels = getattr(config, "in_channels", None) or getattr(config, "in_chans", None) or 3
    each = 16 // merge ** 2
    token = getattr(model.config, "image_token_id", IMAGE_TOKEN)
    ids = torch.cat([torch.full((2, each), token), text["input_ids"]], 1)
    out = dict(text, input_ids=ids, pixel_values=torch.randn(32, channels * times * size * size, generator=generator),
               image_grid_thw=torch.tensor([[1, 4, 4], [1, 4, 4]]))
    if "attention_mask" in text:
        out["attention_mask"] = torch.cat([torch.ones(2, each, dtype=torch.long), text["attention_mask"]], 1)
    if "mm_token_type_ids" in takes(model):
        out["mm_token_type_ids"] = (ids == token).long()
    return out
