"""Capture through transformers' AttentionInterface: a registry that every attention call goes through.

While a capture is open, the functions in the registry are wrapped. The wrapper calls the original function, so the
model's masks, output and backward pass stay the same, and keeps Q, K and whatever changes their scores. Where
one_pass.py can, the engine computes instead of sdpa. Eager attention is not in the registry; it is added for that time.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable

import torch
from torch import Tensor

from ..errors import Error
from . import patch, switches
from .away import put_away
from .by_formula import blocked, check_formula
from .by_hand import unwatched
from .log_sums import Asking
from .one_pass import attend, is_sdpa, serves
from .record import Record

if TYPE_CHECKING:
    from .recording import Recording

# Keywords that change no probability, or that the mask includes already.
HARMLESS = {"dropout", "scaling", "is_causal", "sliding_window", "softcap", "s_aux", "position_bias", "deterministic",
            "output_attentions", "output_hidden_states", "return_dict", "use_cache", "cache_position", "position_ids",
            "position_embeddings", "num_items_in_batch", "labels", "past_key_values", "input_ids", "logits_to_keep",
            "cache", "layer_idx", "output_router_logits", "cross_attention_cache", "inputs_embeds", "cu_seq_lens_q",
            "cu_seq_lens_k", "max_length_q", "max_length_k", "mm_token_type_ids", "guidance_scale"}

users: list[Recording] = []  # the captures that need the wrapped registry
wrapped: dict[str, Callable[..., Any] | None] = {}  # what was in the registry
EAGER = "headwater_eager"  # a name for eager attention in early versions of transformers 5


def registry() -> Any:
    """transformers' mapping, or None if there is none."""
    try:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        return None
    return ALL_ATTENTION_FUNCTIONS if hasattr(ALL_ATTENTION_FUNCTIONS, "_global_mapping") else None


def rename_eager(capture: Recording, mapping: Any) -> None:
    """Before 5.1 or so, eager attention bypasses the registry. Under another name, with its own masks, it does not."""
    if hasattr(mapping, "get_interface"):
        return
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
    mapping._global_mapping[EAGER] = wrapper("eager", None)
    ALL_MASK_ATTENTION_FUNCTIONS._global_mapping[EAGER] = ALL_MASK_ATTENTION_FUNCTIONS["eager"]
    knowing = [module for module in capture._names if hasattr(module, "config") and
               hasattr(sys.modules.get(type(module).__module__), "ALL_ATTENTION_FUNCTIONS")]  # ModernBERT has a list of its own
    for config in {id(module.config): module.config for module in knowing}.values():
        if getattr(config, "_attn_implementation_internal", None) in ("eager", EAGER):
            switches.replace(capture, config, "_attn_implementation_internal", lambda _: EAGER)


def usable(model: Any, modules: Iterable[Any] | None = None) -> bool:
    """Whether all attention of this model goes through the registry. `modules` are its own, if they are known."""
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(model, transformers.PreTrainedModel) or registry() is None:
        return False
    can = getattr(model, "_can_set_attn_implementation", None)
    if can is None or not can():
        return False
    inner = [module for module in (model.modules() if modules is None else modules) if isinstance(module, transformers.PreTrainedModel)]
    return all(module._can_set_attn_implementation() for module in inner)


def implementation(model: Any) -> str | None:
    """The name of the attention function that a model of transformers uses."""
    return getattr(getattr(model, "config", None), "_attn_implementation", None)


def begin(capture: Recording) -> None:
    mapping = registry() if "transformers" in sys.modules else None
    if mapping is None:
        return
    with switches.lock:
        if not users:
            for key in [*mapping.keys(), "eager"]:
                original = mapping._global_mapping.get(key)
                wrapped[key] = original
                mapping._global_mapping[key] = wrapper(key, original)
        users.append(capture)
        rename_eager(capture, mapping)


def end(capture: Recording) -> None:
    with switches.lock:
        if capture not in users:
            return
        users.remove(capture)
        if not users:
            mapping = registry()
            for key, original in wrapped.items():
                if original is None:
                    mapping._global_mapping.pop(key, None)
                else:
                    mapping._global_mapping[key] = original
            wrapped.clear()


def eager_of(module: torch.nn.Module) -> Callable[..., Any]:
    """The eager function in the file that defines the class of a module, or one of its bases."""
    for kind in type(module).__mro__:
        function: Callable[..., Any] | None = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise Error(f"{type(module).__name__}: has no eager attention in its file, expected eager_attention_forward; "
                "load the model with attn_implementation='sdpa'")


def wrapper(name: str, original: Callable[..., Any] | None) -> Callable[..., Any]:
    known = is_known(original)

    def attention(module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
                  *args: Any, **words: Any) -> Any:
        owners = [capture for capture in list(users) if capture._wants(module)]
        function = original if original is not None else eager_of(module)
        if not owners:
            return function(module, query, key, value, attention_mask, *args, **words)
        if args:
            raise Error(f"{type(module).__name__}: gives attention {len(args)} more positional arguments, expected "
                        "keywords; capture with how='sdpa'")
        check(module, words)
        record = record_of(name, module, query, key, attention_mask, words)
        threads = [capture._frames.thread for capture in owners]
        current = threads[0].current
        assert current is not None
        record.sights = current.sights
        capped = record.softcap is not None or record.sinks is not None
        if original is None and capped and not record.dropout and \
                not any(one._asked_for_weights(words) for one in owners):
            weights: Tensor | None = None
            out = blocked(record, value)
        elif is_sdpa(original) and words.get("cache") is None and serves(record, value):
            out, weights = attend(record, value), None
        else:
            for thread in threads:
                thread.deaf += 1
            try:
                with Asking(record, value, is_sdpa(original) and patch.serves_torchs_own()):
                    out, weights = function(module, query, key, value, attention_mask, **words)
            finally:
                for thread in threads:
                    thread.deaf -= 1
            if not known:
                check_formula(name, record, value, out)
        if record.sinks is not None and not shows_sinks(module, query, key, value, attention_mask, words):
            record.sinks = None
        if out.requires_grad:
            record.value, record.out = value, out
        elif len(owners) == 1 and owners[0]._keeps_inputs:
            record = put_away(record)
        for capture in owners:
            capture._keep(record, module, "interface")
        return out, weights

    return attention


def is_known(function: Any) -> bool:
    """Whether an attention function is eager attention, or one of transformers' own. Others may compute anything."""
    function = getattr(function, "func", function)  # of a partial
    return function is None or str(getattr(function, "__module__", "")).startswith("transformers.")


sinks_shown: dict[Any, bool] = {}


@unwatched
def shows_sinks(module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Any,
                words: dict[str, Any]) -> bool:
    """Whether a model's eager attention returns weights that lack what sinks took; Granite's scales its output."""
    try:
        function = eager_of(module)
    except Error:
        return True
    if function not in sinks_shown:
        row = mask[:1, :, -1:] if isinstance(mask, Tensor) and mask.ndim == 4 and not mask.dtype == torch.bool else None
        with torch.no_grad():
            _, weights = function(module, query[:1, :, -1:], key[:1], value[:1], row, **words)
        sums = weights.float().sum(-1)
        sinks_shown[function] = bool((sums < 1 - 1e-3).any())
    return sinks_shown[function]


def check(module: torch.nn.Module, words: dict[str, Any]) -> None:
    for word, value in words.items():
        if value is not None and word not in HARMLESS and not word.startswith("output_"):
            raise Error(f"{type(module).__name__}: gives attention the keyword '{word}', which headwater does not "
                        "know; capture with how='eager', or leave the keyword out")


def record_of(key: str, module: torch.nn.Module, query: Tensor, keys: Tensor, mask: Tensor | None,
              words: dict[str, Any]) -> Record:
    queries, length = query.shape[2], keys.shape[2]
    scale = words.get("scaling")
    record = Record(name="", query=query, key=keys, scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
                    softcap=words.get("softcap"), sinks=words.get("s_aux"), bias=words.get("position_bias"),
                    dropout=float(words.get("dropout") or 0.0))
    causal = words.get("is_causal")
    causal = getattr(module, "is_causal", True) if causal is None else causal
    packed = texts_of(words, queries, length, query) if "flash" in key else None
    if hasattr(mask, "mask_mod"):
        record.mask = dense_mask(mask, query, keys)
    elif packed is not None:
        record.mask = packed_mask(packed, bool(causal), int(words.get("sliding_window") or 0))
    elif mask is not None and mask.ndim == 4:
        record.mask = mask[..., :length]
        if key == "eager" and mask.dtype == torch.bool:
            record.mask = record.mask.to(query.dtype)  # which eager attention adds to the scores as 1 and 0
    elif key == "eager":
        record.causal = False  # the mask alone decides
    elif "flash" in key:  # looks back from the last key; its mask is for padding only
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


def dense_mask(mask: Any, query: Tensor, keys: Tensor) -> Tensor:
    """FlexAttention's BlockMask as [B or 1, 1, Q, K], computed from the function that made it."""
    from torch.nn.attention.flex_attention import create_mask
    shape = query.shape[0], 1, query.shape[2], keys.shape[2]
    made: Tensor = create_mask(mask.mask_mod, *shape, device=str(query.device))
    return made


def texts_of(words: dict[str, Any], queries: int, keys: int, query: Tensor) -> Tensor | None:
    """The number of the text that each position belongs to, where flash attention gets several texts in one row."""
    if query.shape[0] != 1 or queries != keys:
        if words.get("cu_seq_lens_q") is not None:
            raise Error("capture: flash attention got several texts in a row and a cache or a batch, which headwater "
                        "cannot take apart; run them one by one")
        return None
    ends, positions = words.get("cu_seq_lens_q"), words.get("position_ids")
    if ends is not None:
        return torch.searchsorted(ends[1:].to(torch.int64), torch.arange(queries, device=query.device), right=True)
    if isinstance(positions, Tensor) and positions.ndim == 2 and positions.shape == (1, queries) and \
            bool((positions[0].diff() != 1).any()):
        return (positions[0] == positions[0].min()).cumsum(0)
    return None


def packed_mask(texts: Tensor, causal: bool, window: int) -> Tensor:
    """[1, 1, n, n]: each text sees itself only."""
    seen = texts[:, None] == texts
    place = torch.arange(len(texts), device=texts.device)
    if causal:
        seen = seen & (place <= place[:, None])
        seen = seen & (place > place[:, None] - window) if window else seen
    return seen[None, None]


def flash_mask(mask: Tensor, record: Record, queries: int, keys: int) -> Tensor:
    """Padding [B, K], looking back and the window as one mask."""
    seen = mask[:, None, None, -keys:] != 0
    if record.causal:
        i = torch.arange(queries, device=mask.device)[:, None] + record.first
        j = torch.arange(keys, device=mask.device)
        seen = seen & ((j <= i) & (j > i - record.window) if record.window else j <= i)
    return seen
