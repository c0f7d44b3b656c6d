"""Inputs that a tiny model may take, the likely ones first, and inputs mended by what a model says of them."""
import inspect
import re

import torch

from tiny import IMAGE_TOKEN

LENGTH, REAL = 13, 9


def takes(model):
    return inspect.signature(model.forward).parameters


def words_of(model):
    """How many words the model knows."""
    sizes = [getattr(config, "vocab_size", None) for config in (model.config.get_text_config(), model.config)]
    return next((size for size in sizes if isinstance(size, int) and size > 12), 90)


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
    ids = torch.randint(12, min(90, words_of(model)), (2, LENGTH), generator=generator)
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
    if "spatial_shapes" in parameters:
        size = getattr(getattr(model.config, "vision_config", model.config), "patch_size", 8)
        flat = torch.randn(2, 16, 3 * size * size, generator=generator)
        seen = dict(pixel_values=flat, pixel_attention_mask=torch.ones(2, 16, dtype=torch.long),
                    spatial_shapes=torch.tensor([[4, 4], [4, 4]]))
        out.append(("text and patches", dict(text, **seen)))
    if "grid_thw" in parameters:
        name = next(name for name in ("hidden_states", "pixel_values", "patches") if name in [*parameters, "patches"])
        patches = rows_of_patches(model.config, generator)
        out += [("patches", {name: patches[:16], "grid_thw": torch.tensor([[1, 4, 4]])}),
                ("patches", {name: patches, "grid_thw": torch.tensor([[1, 4, 4]] * 2)})]
    if "image_grid_thw" in parameters and text:
        out.append(("text and patches", patches_of(model, text, generator)))
    if "pixel_values" in parameters and text:
        out.append(("text and image", dict(text, pixel_values=pixels)))
        out.append(("text and images", dict(text, pixel_values=pixels[:, None])))
        if "image_attention_mask" in parameters:
            out.append(("text and images", dict(text, pixel_values=pixels[:, None],
                                                image_attention_mask=torch.ones(2, LENGTH, 1, dtype=torch.long))))
    if text:
        out.append(("text", text))
    if "bbox" in parameters and text:
        box = torch.randint(0, 40, (2, LENGTH, 4), generator=generator)
        box[..., 2:] += box[..., :2]
        out.insert(0, ("text and boxes", dict(text, bbox=box)))
        out.insert(1, ("text and boxes", dict(text, bbox=box / 100)))
    rest = {"decoder_input_ids": ids[:, :6] + 1} if "decoder_input_ids" in parameters else {}
    if "pixel_values" in parameters:
        out += [("image", dict(pixel_values=pixels)), ("image and text", dict(pixel_values=pixels, **rest))]
        if not text:
            out += [("large image", dict(pixel_values=torch.randn(2, channels, 128, 128, generator=generator))),
                    ("pairs", dict(pixel_values=torch.randn(2, 2, channels, 64, 64, generator=generator)))]
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
        if isinstance(frames := getattr(model.config, "max_length", None), int) and hasattr(model.config, "num_mel_bins"):
            spectrum = torch.randn(2, frames, model.config.num_mel_bins, generator=generator)
            out.append(("spectrum", dict(input_values=spectrum)))
        out += [("wave", heard), ("wave", dict(input_values=wave[:, None])), ("wave", dict(input_values=sound.transpose(1, 2).contiguous()))]
    return out + numbers_of(model, parameters, generator)


def numbers_of(model, parameters, generator):
    """What models take that read neither words nor images nor sounds."""
    config, out = model.config, []

    def random(*shape):
        return torch.randn(2, *shape, generator=generator)

    if "past_time_features" in parameters:
        length, ahead = config.context_length + max(config.lags_sequence), config.prediction_length
        times = config.num_time_features
        out.append(("series", dict(past_values=random(length), past_time_features=random(length, times),
                                   past_observed_mask=torch.ones(2, length), future_values=random(ahead),
                                   future_time_features=random(ahead, times))))
    elif "past_values" in parameters and hasattr(config, "num_input_channels"):
        out.append(("series", dict(past_values=random(config.context_length, config.num_input_channels))))
    if "returns_to_go" in parameters:
        out.append(("decisions", dict(states=random(5, config.state_dim), actions=random(5, config.act_dim),
                                      rewards=random(5, 1), returns_to_go=random(5, 1),
                                      timesteps=torch.arange(5).expand(2, 5), attention_mask=torch.ones(2, 5))))
    if "query_embeds" in parameters:
        out.append(("queries", dict(query_embeds=random(6, config.hidden_size),
                                    encoder_hidden_states=random(7, config.encoder_hidden_size))))
    if "inputs" in parameters and hasattr(config, "d_model"):
        out.append(("numbers", dict(inputs=random(9, config.d_model))))
    if "visual_feats" in parameters:
        out.append(("text and regions", dict(input_ids=torch.randint(12, 90, (2, LENGTH), generator=generator),
                                             visual_feats=random(5, config.visual_feat_dim),
                                             visual_pos=random(5, config.visual_pos_dim))))
    if "flattened_patches" in parameters:
        size = config.vision_config.patch_embed_hidden_size if hasattr(config, "vision_config") else 32
        out.append(("patches", dict(flattened_patches=random(9, size + 2).abs(),
                                    decoder_input_ids=torch.randint(12, 90, (2, 6), generator=generator))))
    return out


def rows_of_patches(config, generator):
    """Two images of 4 x 4 patches, one patch a row."""
    size, times = getattr(config, "patch_size", 8), getattr(config, "temporal_patch_size", 1) or 1
    channels = getattr(config, "in_channels", None) or getattr(config, "in_chans", None) or 3
    return torch.randn(32, channels * times * size * size, generator=generator)


def patches_of(model, text, generator):
    """Two images of 4 x 4 patches in one list, as the models of the Qwen family take them."""
    config = getattr(model.config, "vision_config", model.config)
    each = 16 // (getattr(config, "spatial_merge_size", 2) or 2) ** 2
    token = getattr(model.config, "image_token_id", IMAGE_TOKEN)
    ids = torch.cat([torch.full((2, each), token), text["input_ids"]], 1)
    out = dict(text, input_ids=ids, pixel_values=rows_of_patches(config, generator),
               image_grid_thw=torch.tensor([[1, 4, 4], [1, 4, 4]]))
    if "attention_mask" in text:
        out["attention_mask"] = torch.cat([torch.ones(2, each, dtype=torch.long), text["attention_mask"]], 1)
    if "mm_token_type_ids" in takes(model):
        out["mm_token_type_ids"] = (ids == token).long()
    return out


def mended(model, inputs, error):
    """Inputs changed by what the model's error asks for, or None."""
    for mend in (with_image_tokens, with_what_is_missing, with_an_end, with_another_width):
        if (found := mend(model, inputs, str(error))) is not None:
            return found
    return None


def with_image_tokens(model, inputs, error):
    """As many image tokens as the model has features, if its error says how many."""
    numbers = re.search(r"tokens:? *(?:is )?(\d+).*?features:? *(?:is )?(\d+)", error, re.S)
    token = getattr(model.config, "image_token_id", None) or getattr(model.config, "image_token_index", None)
    if numbers is None or token is None or "pixel_values" not in inputs or "input_ids" not in inputs:
        return None
    each = int(numbers[2]) // len(inputs["input_ids"])
    ids = torch.cat([torch.full((len(inputs["input_ids"]), each), token), inputs["input_ids"]], 1)
    return dict(inputs, input_ids=ids, **({"attention_mask": torch.ones_like(ids)} if "attention_mask" in inputs else {}))


def with_what_is_missing(model, inputs, error):
    """The arguments that the error of a call names, if they are known."""
    named = re.search(r"missing \d+ required positional arguments?: (.*)", error)
    names = re.findall(r"'(\w+)'", named[1]) if named else []
    if not names:
        return None
    made = {name: part_of(model, name, inputs) for name in names}
    return None if any(one is None for one in made.values()) else dict(inputs, **made)


def part_of(model, name, inputs):
    """An input by its name, beside others; None if nobody knows it."""
    generator = torch.Generator().manual_seed(2)
    if name in ("qformer_input_ids", "input_ids", "decoder_input_ids"):
        return torch.randint(12, 90, (2, 6), generator=generator)
    if name == "input_features_mask" and "input_features" in inputs:
        return torch.ones(2, max(inputs["input_features"].shape[1:]), dtype=torch.long)
    if name == "merge_sizes":
        return torch.ones(2, dtype=torch.long)
    if name == "pixel_values":
        return torch.randn(2, *image_of(model), generator=generator)
    return None


def with_an_end(model, inputs, error):
    end = getattr(model.config, "eos_token_id", None)
    if "<eos>" not in error or not isinstance(end, int) or "input_ids" not in inputs or \
            bool((inputs["input_ids"][:, REAL - 1] == end).all()):
        return None
    ids = inputs["input_ids"].clone()
    ids[:, REAL - 1] = end
    return dict(inputs, input_ids=ids)


def with_another_width(model, inputs, error):
    """Sounds or patches of as many features as a norm or a linear map of the model expects."""
    square = re.search(r"input to conv2d, but got input of size: \[(\d+), (\d+)\]", error)
    for name in ("pixel_values", "hidden_states"):
        if square and name in inputs and inputs[name].ndim == 2:
            side = int((int(square[2]) // 3) ** 0.5)
            return dict(inputs, **{name: inputs[name].reshape(-1, 3, side, side)})
    found = re.search(r"normalized_shape=\[(\d+)\]|cannot be multiplied \(\d+x\d+ and (\d+)x", error)
    width = int(found[1] or found[2]) if found else 0
    for name in ("pixel_values", "hidden_states"):
        if width and "grid_thw" in inputs and name in inputs and inputs[name].shape[-1] != width:
            return dict(inputs, **{name: torch.randn(len(inputs[name]), width, generator=torch.Generator().manual_seed(2))})
    given = inputs.get("input_features")
    if not width or given is None or width in given.shape[1:]:
        return None
    shape = (2, 128, width) if given.shape[1] == 128 else (2, width, 128)
    return dict(inputs, input_features=torch.randn(*shape, generator=torch.Generator().manual_seed(2)))


def runnable(model, padded):
    """The first inputs that the model takes: their name and the keywords."""
    errors = []
    for name, inputs in inputs_of(model, padded):
        for _ in range(4):
            try:
                with torch.no_grad():
                    model(**inputs)
                return name, inputs
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
                inputs = mended(model, inputs, error)
                if inputs is None:
                    break
    raise ValueError(" || ".join(error[:110] for error in errors[:4]) or "no inputs are known")
