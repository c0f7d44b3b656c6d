"""Gradient x attention of a running model.

    G_l = mean_h (A_(l,h) (x) dA_(l,h))^+,   dA = dy/dA = dO V^T

O = A V is what a layer's attention gives, dO = dy/dO comes from the model's own backward pass, whatever kernel it
uses. So a head's map needs a few of its rows at a time, and heads x n x n never exists. Rules as in docs/methods.md:
`gradient` (the mean of G_l, or one layer's), `gradient-rollout` (G_l prepared by the options, then rollout), `chefer`
(R <- R + G_l R from R = I).
"""
from __future__ import annotations

from typing import Any

import torch

from .. import _engine
from .._engine import Error
from ..arguments import make_options, one_row, split
from ..arrays import Kind
from ..device import DeviceAttribution, Stack, pick, roll
from ..products import float_product
from .record import Record, heads_of

RULES = ("gradient", "gradient-rollout", "chefer")


def gradient(seen: Any, target: Any, *, rule: str = "gradient", layer: int | None = None, position: int | None = None,
             tokens: Any = None, call: int = -1, item: int | None = None, **words: Any) -> Any:
    """G over the tokens of each item: [n, n], [n] with a row, [B, n, n] for a batch (a list where lengths differ).

    `target` says of which output y: a class or token (a number, or one for each item), 'best' (the largest logit),
    or a function of the model's output that gives y, one number or one for each item. Of a model with logits for
    every token, `position` is whose (default: the last real one).
    """
    if rule not in RULES:
        raise Error(f"unknown rule '{rule}'; there are {', '.join(RULES)}")
    options, rest = split(words)
    if rest:
        raise TypeError(f"gradient() got an unexpected keyword '{next(iter(rest))}'")
    prepares = ("residual", "discard", "order", "preset", "empty")
    if rule != "gradient-rollout" and any(word in words for word in prepares):
        raise Error(f"rule {rule}: takes no residual, discard, order, empty or preset; leave it out, or take "
                    "rule='gradient-rollout'")
    records, real, names = seen._parts(tokens, call, None)
    chosen = range(len(records))[slice(*options.range(len(records), type(seen.model).__name__))]
    if layer is not None:
        chosen = range(len(records))[layer:][:1] if layer < 0 else range(layer, layer + 1)
        if not len(chosen) or chosen[0] >= len(records):
            raise Error(f"capture: has no layer {layer}, expected 0 to {len(records) - 1}; choose another")
    fuse = options.words()["fuse"]
    gradients = back(seen.call(call), records, target, position, real)
    values = []
    items = range(len(names)) if item is None else [range(len(names))[item]]
    for k in items:
        maps = (positive(records[l], gradients[l], k, fuse, real[k]) for l in chosen)
        values.append(join(rule, maps, options, names[k], fuse))
    return packed(seen, values, [names[k] for k in items], options, records, len(names) > 1 and item is None, words)


def back(one: Any, records: list[Record], target: Any, position: int | None, real: list[Any]) -> list[Any]:
    """dy/dO of every layer."""
    outs = [record.out for record in records]
    if any(out is None for out in outs) or one.output is None:
        raise Error("gradient: the model ran without gradients, or its attention came by hooks, expected a graph to "
                    "go back; run it without torch.no_grad(), and not with how='eager'")
    if any(record.dropout for record in records):
        raise Error("gradient: the model ran with dropout, expected none; call model.eval() first")
    y = chosen_output(one, target, position, real)
    found = torch.autograd.grad(y.sum(), outs, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(out) if grad is None else grad.detach() for out, grad in zip(outs, found)]


def chosen_output(one: Any, target: Any, position: int | None, real: list[Any]) -> Any:
    if callable(target):
        return target(one.output)
    logits = getattr(one.output, "logits", one.output)
    if not isinstance(logits, torch.Tensor) or logits.ndim not in (2, 3):
        raise Error("gradient: the model gives no logits, expected [B, classes] or [B, n, words]; give target a "
                    "function of its output")
    if logits.ndim == 3:
        places = []
        for k in range(len(logits)):
            keep = real[k] if real[k] is not None else torch.arange(logits.shape[1], device=logits.device)
            places.append(keep[-1 if position is None else position])
        logits = logits[torch.arange(len(logits), device=logits.device), torch.stack(places)]
    if target == "best":
        return logits.max(-1).values
    wanted = torch.as_tensor(target, device=logits.device).expand(len(logits))
    if bool((wanted >= logits.shape[-1]).any()):
        raise Error(f"gradient: target {target} is not there, expected 0 to {logits.shape[-1] - 1}; choose another")
    return logits[torch.arange(len(logits), device=logits.device), wanted]


def positive(record: Record, gradient: Any, item: int, fuse: str, real: Any) -> Any:
    """Fused (A (x) dO V^T)^+ of an item, [n, n] float32."""
    group = record.heads // record.value.shape[1]
    grad = gradient if record.heads_last else four_heads_last(gradient)
    value = record.value.detach()[item]
    value = value if real is None else value[:, real]
    n = record.queries if real is None else len(real)
    out = torch.zeros(n, n, device=value.device)
    heads = heads_of(fuse, record.heads)
    begun: set[int] = set()
    for some, block in record.probabilities(item, range(n), real, real, heads):
        rows = slice(block.first, block.first + block.count)
        rows = rows if real is None else real[rows]
        upstream = grad[item, rows][:, some.start:some.stop].transpose(0, 1)
        values = value[[head // group for head in some], block.low:block.low + block.values.shape[-1]]
        product = block.values.mul_(float_product(upstream, values.transpose(-1, -2))).clamp_(min=0)
        target = block.of(out)
        if fuse == "max":
            torch.maximum(target, product.amax(0), out=target)  # nothing is below 0
        elif fuse == "min":
            piece = product.amin(0)
            target.copy_(torch.minimum(target, piece) if block.first in begun else piece)
        else:
            target += product.sum(0)
        begun.add(block.first)
    return out.div_(record.heads) if fuse == "mean" else out


def four_heads_last(gradient: Any) -> Any:
    while gradient.ndim < 4:
        gradient = gradient[None]
    return gradient.transpose(1, 2)


def join(rule: str, maps: Any, options: _engine.Options, tokens: list[str], fuse: str) -> Any:
    rows = options.rows(tokens, "gradient")
    if rule == "gradient":
        total, count = None, 0
        for map in maps:
            total, count = map if total is None else total + map, count + 1
        return pick(total / count, rows)
    if rule == "chefer":
        total = None
        for map in maps:
            total = torch.eye(len(tokens), device=map.device) if total is None else total
            total = total + map @ total
        return pick(total, rows)
    held = list(maps)
    stack = Stack(lambda item, layer, fuse, first, count: held[layer].clone(), [tokens], [1] * len(held), "gradient",
                  held[0].device, len(tokens), False)
    words = {word: value for word, value in options.words().items() if word != "fuse"}
    return roll(stack, 0, make_options(**words, fuse="mean"), rows, False)[0][0]


def packed(seen: Any, values: list[Any], tokens: list[list[str]], options: _engine.Options, records: list[Record],
           batch: bool, words: dict[str, Any]) -> DeviceAttribution:
    import numpy as np
    results = _engine.Results()
    one = one_row(words)
    for k, names in enumerate(tokens):
        rows = options.rows(names, "gradient")
        results.add("gradient", options, np.zeros((1, 0, len(names))), names, [] if rows == "mean" else rows, [],
                    [record.heads for record in records], [], type(seen.model).__name__, item=k, items=len(tokens))
    values = [value[0] if one and value.shape[0] == 1 else value for value in values]
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0])
