"""What stands in for the parts of a model while its pass is run again: norms and activations that are modules, torch's
multi-head attention, kernels that torch does not see into, and whatever the user says about a part.
"""
from __future__ import annotations

import fnmatch
import functools
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, TypeAlias

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

from ..errors import Error
from ..kinds import ModuleRules
from . import interface
from .backward import slope_of
from .handlers import shares, size_of
from .network import Network, detached, is_stream, tensors
from .probe import Activation, Norm, kind_of

Forward: TypeAlias = Callable[..., Any]  # of a module
WORDS = ("linear", "constant", "factor")


@dataclass
class Stand:
    """What is changed in a model while a pass is run again, and undone."""

    undo: list[Callable[[], None]] = field(default_factory=list)

    def forward(self, module: torch.nn.Module, make: Callable[[Forward], Forward]) -> None:
        """Puts another forward in a module's place."""
        before = module.__dict__.get("forward")
        own = module.forward

        def back() -> None:
            if before is None:
                module.__dict__.pop("forward", None)
            else:
                module.__dict__["forward"] = before

        self.undo.append(back)
        module.__dict__["forward"] = make(own)

    def hook(self, handle: RemovableHandle) -> None:
        self.undo.append(handle.remove)

    def clear(self) -> None:
        while self.undo:
            self.undo.pop()()



def rule_of(stand: Stand, network: Network, names: Mapping[torch.nn.Module, str], rules: ModuleRules) -> None:
    """Puts what the user says about modules in their place."""
    if not isinstance(rules, Mapping):
        raise Error(f"`rules` {rules!r}: expected rules by the names or classes of modules; for example "
                    "rules={'layers.*.gate': 'linear'}")
    for key, word in rules.items():
        if word not in WORDS:
            raise Error(f"`rules` {word!r}: is not a rule; there are {', '.join(WORDS)}")
        chosen = [module for module, name in names.items()
                  if (fnmatch.fnmatchcase(name, key) if isinstance(key, str) else isinstance(module, key))]
        if not chosen:
            raise Error(f"`rules`: no module is {key!r}, expected a name (with * for any part) or a class; "
                        "model.named_modules() lists them")
        for module in chosen:
            stand.forward(module, lambda own, word=word: told(network, own, word))  # type: ignore[misc]


def told(network: Network, own: Forward, word: str) -> Forward:
    def forward(*args: Any, **words: Any) -> Any:
        if word == "linear":
            with network.as_it_is():
                return own(*args, **words)
        if word == "constant":
            with network.paused(), torch.no_grad():
                return detached(own(*args, **words))
        x = next(filter(is_stream, tensors((*args, *words.values()))), None)
        if x is None:
            return own(*args, **words)
        with network.paused():
            rest = args[1:] if args and args[0] is x else None
            if rest is None or any(map(is_stream, tensors((*rest, *words.values())))):
                raise Error("`rules` 'factor': is for modules of one tensor that depends on the tokens; say 'linear' "
                            "or 'constant'")

            def same(value: Tensor) -> Tensor:
                y: Tensor = own(value, *rest, **words)
                return y

            with torch.no_grad():
                y = same(x)
            if not isinstance(y, Tensor):
                raise Error(f"`rules` 'factor': the module returns a {type(y).__name__}, expected one tensor; say "
                            "'linear' or 'constant'")
            if y.shape != x.shape:
                raise Error(f"`rules` 'factor': the module makes {list(y.shape)} of {list(x.shape)}, expected the same "
                            "shape; say 'linear' or 'constant'")
            return network.secant(x, same, slope_of_whole(same))

    return forward


def slope_of_whole(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """f(x) / x of a function of the whole tensor; 0 where x is 0."""
    def slope(x: Tensor) -> Tensor:
        with torch.no_grad():
            zero = x == 0
            return (function(x) / torch.where(zero, torch.ones_like(x), x)).masked_fill_(zero, 0)

    return slope


def leaves(stand: Stand, network: Network, names: Mapping[torch.nn.Module, str]) -> None:
    """Norms and activations that are modules of their own kind are asked what they compute, when they are called."""
    for module in names:
        if isinstance(module, torch.nn.MultiheadAttention):
            stand.forward(module, lambda own, module=module: multihead(network, module))  # type: ignore[misc]
        elif next(module.children(), None) is None and not type(module).__module__.startswith("torch.nn.modules."):
            stand.forward(module, lambda own, module=module: asked(network, module, own))  # type: ignore[misc]


def asked(network: Network, module: torch.nn.Module, own: Forward) -> Forward:
    kinds: dict[tuple[int, ...], Norm | Activation | None] = {}

    def forward(*args: Any, **words: Any) -> Any:
        if network.quiet or len(args) != 1 or words or not isinstance(args[0], Tensor) or \
                not args[0].is_floating_point() or network.plain and not network.searching:
            return own(*args, **words)
        x, root = network.rooted(args[0])
        if not is_stream(x):
            return own(*args, **words)
        shape = (x.ndim, *x.shape[2:], x.shape[-1])
        if shape not in kinds:
            with network.paused():
                kinds[shape] = kind_of(module, x.shape)
        kind = kinds[shape]
        if kind is None:
            return own(*args, **words)
        if network.plain:
            with network.paused():
                return network.follow(own(x), root if isinstance(kind, Norm) else None)
        with network.paused():
            if isinstance(kind, Activation):
                return network.secant(x, own, kind.slope or slope_of(own))
            with torch.no_grad():
                y = own(x)
                size = size_of(x, (-1,), kind.epsilon, kind.centred)
            weight, bias = (None if one is None else one.to(x.device, x.dtype) for one in (kind.weight, kind.bias))
            leaf = None if bias is None else network.constant(bias)
            return network.follow(network.normed(x, leaf, lambda: y, weight, size, (-1,), kind.centred), root)

    return forward


def multihead(network: Network, module: torch.nn.MultiheadAttention) -> Forward:
    """nn.MultiheadAttention by the functions that the mode sees; its own runs as one."""
    def forward(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        if module.bias_k is not None or module.add_zero_attn or query.ndim != 3:
            raise Error("relevance: nn.MultiheadAttention with bias_k, add_zero_attn or without a batch is not known "
                        "to the rules; say what it is with `rules`")
        if module.dropout and module.training:
            raise Error("relevance: the model runs with dropout, expected none; call model.eval() first")
        width, linear = module.embed_dim, torch.nn.functional.linear
        biases = module.in_proj_bias.chunk(3) if module.in_proj_bias is not None else (None, None, None)
        weights = torch.split(module.in_proj_weight, width) if module.in_proj_weight is not None else \
            (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        given = (query, key, value) if module.batch_first else tuple(one.transpose(0, 1) for one in (query, key, value))
        q, k, v = (torch.unflatten(linear(one, weight, bias), -1, (module.num_heads, -1)).transpose(1, 2)
                   for one, weight, bias in zip(given, weights, biases))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=one_mask(
            key_padding_mask, attn_mask, module.num_heads, q))
        out = module.out_proj(out.transpose(1, 2).flatten(2))
        return (out if module.batch_first else out.transpose(0, 1)), None

    return forward


def one_mask(padding: Tensor | None, mask: Tensor | None, heads: int, q: Tensor) -> Tensor | None:
    """Both masks of nn.MultiheadAttention as one that is added to the scores."""
    total: Tensor | None = None
    for one in (None if padding is None else padding[:, None, None], mask):
        if one is None:
            continue
        one = torch.unflatten(one, 0, (-1, heads)) if one.ndim == 3 else one
        one = torch.zeros_like(one, dtype=q.dtype).masked_fill(one, float("-inf")) if one.dtype == torch.bool else one
        total = one if total is None else total + one
    return total


def attention_kernels(stand: Stand, network: Network) -> None:
    """Kernels in transformers' registry that torch does not see into, such as flash attention's own."""
    mapping = interface.registry() if "transformers" in sys.modules else None
    if mapping is None:
        return
    for key in [*mapping.keys()]:
        original = mapping._global_mapping.get(key)
        if original is None or key in ("eager", "sdpa") or "paged" in key:
            continue
        mapping._global_mapping[key] = kernel(network, original, key)
        stand.undo.append(functools.partial(mapping._global_mapping.__setitem__, key, original))


def kernel(network: Network, original: Forward, name: str) -> Forward:
    def attention(module: torch.nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Any, *args: Any,
                  **words: Any) -> Any:
        if network.quiet or network.plain or not any(map(is_stream, (query, key, value))):
            return original(module, query, key, value, mask, *args, **words)
        if words.get("dropout"):
            raise Error("relevance: the model runs with dropout, expected none; call model.eval() first")
        if words.get("softcap") is not None and not network.frozen:
            raise Error("relevance: attention's scores have a soft cap inside a kernel, which `rule` attnlrp does not "
                        "know; load the model with attn_implementation='eager', or use rule='frozen'")
        query, key, value, mask = shares(network, query, key, value, mask)
        with network.as_it_is():
            out = original(module, query, key, value, mask, *args, **words)
        number = network.local.layer
        if network.parts is None or number is None or not isinstance(out, tuple):
            return out
        return network.parts.of_opaque(number, out[0], query, key, name), *out[1:]

    return attention
