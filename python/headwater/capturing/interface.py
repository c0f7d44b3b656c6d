"""Capture through transformers' AttentionInterface: every attention of a model passes one registry on its way.

While a capture is open, the registry's functions are wrapped: the wrapper calls the one that was there, so that the
model's masks, output and backward stay what they are, and keeps Q, K and what changes their scores. In place of sdpa,
where one_pass.py serves, the engine computes. Eager attention, which is no entry of the registry, becomes one for that
time.
"""
from __future__ import annotations

import sys
import threading
from typing import Any, Callable

import torch

from .._engine import Error
from .one_pass import attend, is_sdpa, serves
from .record import Record

# Keywords that change no probability, or that are in the mask already.
HARMLESS = {"dropout", "scaling", "is_causal", "sliding_window", "softcap", "s_aux", "position_bias", "deterministic",
            "output_attentions", "output_hidden_states", "return_dict", "use_cache", "cache_position", "position_ids",
            "position_embeddings", "num_items_in_batch", "labels", "past_key_values", "input_ids", "logits_to_keep",
            "cache", "layer_idx", "output_router_logits", "cross_attention_cache", "inputs_embeds"}

lock = threading.RLock()
open_captures: list[Any] = []  # the latest last
wrapped: dict[str, Callable[..., Any]] = {}  # what stood in the registry


EAGER = "headwater_eager"  # stands for eager attention where the first versions of transformers 5 look it up


def registry() -> Any:
    """transformers' mapping, or None where there is none."""
    try:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        return None
    return ALL_ATTENTION_FUNCTIONS if hasattr(ALL_ATTENTION_FUNCTIONS, "_global_mapping") else None


def rename_eager(capture: Any, mapping: Any) -> None:
    """Before 5.1 or so eager attention never asks the registry; under another name, with its own masks, it does."""
    if hasattr(mapping, "get_interface"):
        return
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    mapping._global_mapping[EAGER] = wrapper("eager", None)
    ALL_MASK_ATTENTION_FUNCTIONS._global_mapping[EAGER] = ALL_MASK_ATTENTION_FUNCTIONS["eager"]
    for config in {id(module.config): module.config for module in capture.names if hasattr(module, "config")}.values():
        if getattr(config, "_attn_implementation_internal", None) == "eager":
            capture.restore.append((config, "_attn_implementation_internal", "eager"))
            config._attn_implementation_internal = EAGER


def usable(model: Any) -> bool:
    """Whether all attention of this model goes through the registry."""
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(model, transformers.PreTrainedModel) or registry() is None:
        return False
    can = getattr(model, "_can_set_attn_implementation", None)
    if can is None or not can():
        return False
    inner = [module for module in model.modules() if isinstance(module, transformers.PreTrainedModel)]
    return all(module._can_set_attn_implementation() for module in inner)


def begin(capture: Any) -> None:
    with lock:
        if not open_captures:
            mapping = registry()
            for key in [*mapping.keys(), "eager"]:
                stood = mapping._global_mapping.get(key)
                wrapped[key] = stood
                mapping._global_mapping[key] = wrapper(key, stood)
        open_captures.append(capture)
        rename_eager(capture, registry())


def end(capture: Any) -> None:
    with lock:
        if capture not in open_captures:
            return
        open_captures.remove(capture)
        if not open_captures:
            mapping = registry()
            for key, stood in wrapped.items():
                if stood is None:
                    mapping._global_mapping.pop(key, None)
                else:
                    mapping._global_mapping[key] = stood
            wrapped.clear()


def eager_of(module: Any) -> Callable[..., Any]:
    """The eager function of the file that a module's class, or one of its bases, is from."""
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise Error(f"{type(module).__name__}: has no eager attention in its file, expected eager_attention_forward; "
                "load the model with attn_implementation='sdpa'")


def wrapper(key: str, stood: Callable[..., Any] | None) -> Callable[..., Any]:
    def attention(module: Any, query: Any, keys: Any, value: Any, attention_mask: Any, *args: Any, **words: Any) -> Any:
        owners = [capture for capture in open_captures if capture.wants(module)]
        function = stood if stood is not None else eager_of(module)
        if not owners:
            return function(module, query, keys, value, attention_mask, *args, **words)
        if args:
            raise Error(f"{type(module).__name__}: passes attention {len(args)} more arguments by place, expected "
                        "keywords; capture with how='sdpa'")
        check(module, words)
        record = record_of(key, module, query, keys, attention_mask, words)
        record.sights = owners[0].current().sights
        capped = record.softcap is not None or record.sinks is not None
        if stood is None and capped and not record.dropout and not any(one.asked_for_weights(words) for one in owners):
            out, weights = blocked(record, value), None
        elif is_sdpa(stood) and words.get("cache") is None and serves(record, value):
            out, weights = attend(record, value), None
        else:
            out, weights = function(module, query, keys, value, attention_mask, **words)
        if out.requires_grad:
            record.value, record.out = value, out
        for capture in owners:
            capture.keep(record, module)
        return out, weights

    return attention


def check(module: Any, words: dict[str, Any]) -> None:
    for word, value in words.items():
        if value is not None and word not in HARMLESS and not word.startswith("output_"):
            raise Error(f"{type(module).__name__}: gives attention the keyword '{word}', which headwater does not "
                        "know; capture with how='eager', or leave the keyword out")


def record_of(key: str, module: Any, query: Any, keys: Any, mask: Any, words: dict[str, Any]) -> Record:
    queries, length = query.shape[2], keys.shape[2]
    scale = words.get("scaling")
    record = Record(name="", query=query, key=keys, scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
                    softcap=words.get("softcap"), sinks=words.get("s_aux"), bias=words.get("position_bias"),
                    dropout=float(words.get("dropout") or 0.0))
    causal = words.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    if mask is not None and mask.ndim == 4:
        record.mask = mask[..., :length]
    elif key == "eager":
        record.causal = False  # its masks say all
    elif "flash" in key:  # looks back from the last key, and masks by padding alone
        record.causal, record.first = bool(causal), length - queries
        record.window = int(words.get("sliding_window") or 0)
        if mask is not None:
            record.mask = flash_mask(mask, record, queries, length)
    elif mask is None:
        record.causal = bool(causal) and queries > 1
        if record.causal and length > queries:
            record.key = keys[:, :, :queries]
            record.bias = record.bias[..., :queries] if record.bias is not None else None
    else:
        raise Error(f"{type(module).__name__}: gives attention a mask of {mask.ndim} axes, expected 4; capture with "
                    "how='eager'")
    return record


def flash_mask(mask: Any, record: Record, queries: int, keys: int) -> Any:
    """Padding [B, K] and looking back as one mask."""
    seen = mask[:, None, None, -keys:] != 0
    if record.causal:
        i = torch.arange(queries, device=mask.device)[:, None] + record.first
        j = torch.arange(keys, device=mask.device)
        seen = seen & ((j <= i) & (j > i - record.window) if record.window else j <= i)
    return seen


def blocked(record: Record, value: Any) -> Any:
    """Eager attention's output [B, Q, H, d] for soft caps and sinks, of which sdpa knows nothing: block by block."""
    if torch.is_grad_enabled() and (record.query.requires_grad or value.requires_grad):
        return differentiable(record, value)
    batch, heads, queries, _ = record.query.shape
    out = torch.empty(batch, queries, heads, value.shape[-1], dtype=value.dtype, device=value.device)
    group = heads // value.shape[1]
    for item in range(batch):
        for some, block in record.probabilities(item, range(queries), None, None, range(heads)):
            keys = slice(block.low, block.low + block.values.shape[-1])
            values = value[item, [head // group for head in some], keys]
            out[item, block.first:block.first + block.count, some.start:some.stop] = torch.matmul(
                block.values.to(value.dtype), values).transpose(0, 1)
    return out


def differentiable(record: Record, value: Any) -> Any:
    """The same as one expression, where a backward pass will ask for it."""
    group = record.heads // value.shape[1]
    keys, values = record.key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = torch.matmul(record.query, keys.transpose(-1, -2)) * record.scale
    if record.softcap is not None:
        scores = torch.tanh(scores / record.softcap) * record.softcap
    for added in (record.bias, record.mask):
        if added is not None:
            scores = scores.masked_fill(~added, float("-inf")) if added.dtype == torch.bool else scores + added
    if record.sinks is not None:
        sinks = record.sinks.view(1, -1, 1, 1).expand(scores.shape[0], -1, scores.shape[2], 1)
        probabilities = torch.softmax(torch.cat([scores, sinks.to(scores.dtype)], -1).float(), -1)[..., :-1]
    else:
        probabilities = torch.softmax(scores.float(), -1)
    return torch.matmul(probabilities.to(values.dtype), values).transpose(1, 2).contiguous()
