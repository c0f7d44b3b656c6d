"""Gradient x attention of a running model.

    G_l = mean_h (A_(l,h) (x) dA_(l,h))^+,   dA = dy/dA = dO V^T

O = A V is the output of a layer's attention. dO = dy/dO comes from the model's own backward pass, whatever kernel it
uses. So a head's map needs a few of its rows at a time, and heads x n x n never exists. The rules are those of
docs/methods.md: `gradient` (the mean of G_l, or one layer's), `gradient-rollout` (G_l prepared by the options, then
rollout), `chefer` (R <- R + G_l R from R = I).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Unpack

import torch
from torch import Tensor

from .. import _engine
from ..arguments import OptionWords, make_options, one_row, split
from ..arrays import Kind
from ..errors import Error
from .device import DeviceAttribution, pick, roll
from .padding import Positions
from .products import float_product
from .record import Record, heads_of
from .stack import Stack

if TYPE_CHECKING:
    from .recording import Pass, Recording

RULES = ("gradient", "gradient-rollout", "chefer")


def gradient(seen: Recording, target: Any, *, rule: str, layer: int | None, position: int | None,
             tokens: Sequence[Any] | None, call: int, item: int | None, **words: Unpack[OptionWords]) -> DeviceAttribution:
    """G over the tokens of each item: [n, n], [n] with a row, [B, n, n] for a batch (a list if lengths differ)."""
    if rule not in RULES:
        raise Error(f"unknown rule '{rule}'; there are {', '.join(RULES)}")
    options, _ = split(words)
    prepares = ("residual", "discard", "order", "preset", "empty")
    if rule != "gradient-rollout" and any(word in words for word in prepares):
        raise Error(f"`rule` {rule}: takes no residual, discard, order, empty or preset; leave it out, or use "
                    "rule='gradient-rollout'")
    records, real, names = seen._parts(tokens, call)
    chosen = range(len(records))[slice(*options.range(len(records), type(seen.model).__name__))]
    if layer is not None:
        chosen = range(len(records))[layer:][:1] if layer < 0 else range(layer, layer + 1)
        if not len(chosen) or chosen[0] >= len(records):
            raise Error(f"capture: has no layer {layer}, expected 0 to {len(records) - 1}; choose another")
    fuse = options.words()["fuse"]
    gradients = back(seen._call(call), records, target, position, real)
    values, notes = [], []
    items = range(len(names)) if item is None else [range(len(names))[item]]
    for k in items:
        maps = (positive(records[l], gradients[l], k, fuse, real[k]) for l in chosen)
        value, noted = join(rule, maps, options, names[k])
        values.append(value)
        notes.append(noted)
    return packed(seen, values, notes, [names[k] for k in items], options, records, len(names) > 1 and item is None,
                  words)


def back(one: Pass, records: list[Record], target: Any, position: int | None, real: list[Positions]) -> list[Tensor]:
    """dy/dO of every layer."""
    outs = [record.out for record in records if record.out is not None]
    if len(outs) < len(records) or one.output is None:
        raise Error("gradient: the model ran without gradients, or its attention came by hooks; run it without "
                    "torch.no_grad(), and not with how='eager'")
    if any(record.dropout for record in records):
        raise Error("gradient: the model ran with dropout, expected none; call model.eval() first")
    y = chosen_output(one, target, position, real)
    found = torch.autograd.grad(y.sum(), outs, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(out) if grad is None else grad.detach() for out, grad in zip(outs, found)]


def chosen_output(one: Pass, target: Any, position: int | None, real: list[Positions]) -> Tensor:
    """The outputs y, one for each item."""
    if callable(target):
        y: Any = target(one.output)
        return torch.as_tensor(y)
    logits = getattr(one.output, "logits", one.output)
    if not isinstance(logits, torch.Tensor) or logits.ndim not in (2, 3):
        raise Error("gradient: the model returns no logits, expected [B, classes] or [B, n, words]; give `target` a "
                    "function of its output")
    if logits.ndim == 3:
        places = []
        for k in range(len(logits)):
            keep = real[k]
            keep = torch.arange(logits.shape[1], device=logits.device) if keep is None else keep
            places.append(keep[-1 if position is None else position])
        logits = logits[torch.arange(len(logits), device=logits.device), torch.stack(places)]
    if target == "best":
        return logits.max(-1).values
    wanted = torch.as_tensor(target, device=logits.device).expand(len(logits))
    if bool((wanted >= logits.shape[-1]).any()):
        raise Error(f"gradient: there is no `target` {target}, expected 0 to {logits.shape[-1] - 1}; choose another")
    return logits[torch.arange(len(logits), device=logits.device), wanted]


def positive(record: Record, gradient: Tensor, item: int, fuse: str, real: Positions) -> Tensor:
    """Fused (A (x) dO V^T)^+ of an item, [n, n] float32."""
    assert record.value is not None
    group = record.heads // record.value.shape[1]
    grad = gradient if record.heads_last else four_heads_last(gradient)
    value = record.value.detach()[item]
    value = value if real is None else value[:, real]
    n = record.queries if real is None else len(real)
    out = torch.zeros(n, n, device=value.device)
    heads = heads_of(fuse, record.heads)
    begun: set[int] = set()
    for some, block in record.probabilities(item, range(n), real, real, heads):
        own = slice(block.first, block.first + block.count)
        rows = own if real is None else real[own]
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


def four_heads_last(gradient: Tensor) -> Tensor:
    """[..., H, Q, d] as [B, Q, H, d]."""
    while gradient.ndim < 4:
        gradient = gradient[None]
    return gradient.transpose(1, 2)


def join(rule: str, maps: Iterator[Tensor], options: _engine.Options, tokens: list[str]) -> tuple[Tensor, list[str]]:
    """The maps of the layers as one, and what to note."""
    rows = options.rows(tokens, "gradient")
    if rule == "gradient-rollout":
        return rolled(list(maps), options, tokens, rows)
    total: Tensor | None = None
    count = 0
    for map in maps:
        if rule == "gradient":
            total = map if total is None else total + map
        else:
            total = torch.eye(len(tokens), device=map.device) if total is None else total
            total = total + map @ total
        count += 1
    assert total is not None
    return pick(total / count if rule == "gradient" else total, rows), []


def rolled(maps: list[Tensor], options: _engine.Options, tokens: list[str],
           rows: list[int] | str) -> tuple[Tensor, list[str]]:
    """Rollout of maps that are fused already: by the engine on the CPU, else by torch where they are."""
    words: dict[str, Any] = {**options.words(), "fuse": "mean"}

    def make(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
        return maps[layer][first:first + count].clone()

    chosen = make_options(**words)
    if maps[0].device.type != "cpu":
        stack = Stack(make, [tokens], [1] * len(maps), "gradient", maps[0].device, len(tokens), False)
        matrices, empty = roll(stack, 0, chosen, rows, False)
        return matrices[0], [_engine.empty_rows_note(empty, options)] if empty else []
    inputs = _engine.from_rows(make, [tokens], [1] * len(maps), "gradient", len(tokens), False)
    results = _engine.rollout(inputs, [0], chosen)
    return pick(torch.from_numpy(results.matrix(0)), rows), results.facts(0)["notes"]


def packed(seen: Recording, values: list[Tensor], notes: list[list[str]], tokens: list[list[str]], options: _engine.Options,
           records: list[Record], batch: bool, words: Mapping[str, Any]) -> DeviceAttribution:
    results = _engine.Results()
    for k, names in enumerate(tokens):
        rows = options.rows(names, "gradient")
        results.add("gradient", options, names, [] if isinstance(rows, str) else rows, [],
                    [record.heads for record in records], notes[k], type(seen.model).__name__, k, len(tokens),
                    len(names))
    values = [value[0] if one_row(words) and value.shape[0] == 1 else value for value in values]
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0])
