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
from ..arguments import ASKED, OPTIONS, CaptureWords, make_options, one_row, split
from ..arrays import Kind
from ..errors import Error
from ..kinds import Target
from . import output_names
from .device import DeviceAttribution, OutputFacts, pick, roll
from .answer import Answer
from .maps import Maps
from .padding import told_mask
from .products import float_product
from .blocks import Positions, heads_of
from .passing_on import PassingOn
from .record import Record

if TYPE_CHECKING:
    from .recording import Recording

RULES = ("gradient", "gradient-rollout", "chefer")
PREPARES = ("residual", "discard", "order", "preset", "empty")  # options that only gradient-rollout uses


def gradient(seen: Recording, target: Target, *, rule: str, layer: int | None, position: int | None,
             **words: Unpack[CaptureWords]) -> DeviceAttribution:
    """G over the tokens of each item: [n, n], [n] with a row, [B, n, n] for a batch (a list if lengths differ)."""
    if rule not in RULES:
        raise Error(f"unknown rule '{rule}'; there are {', '.join(RULES)}")
    options, rest = split(words, (*ASKED, "item"))
    if rule != "gradient-rollout" and any(words.get(word) is not None for word in PREPARES):
        raise Error(f"`rule` {rule}: takes no residual, discard, order, empty or preset; leave it out, or use "
                    "rule='gradient-rollout'")
    item = rest.pop("item", None)
    asked = seen._answer(**rest)
    count = len(asked.records)
    if layer is not None:
        if not -count <= layer < count:
            raise Error(f"capture: has no layer {layer}, expected 0 to {count - 1}; choose another")
        layer = range(count)[layer]
        given: dict[str, Any] = {word: value for word, value in words.items() if word in OPTIONS}
        given["layers"] = (layer, layer + 1)
        options = make_options(**given)
    if rule != "gradient-rollout":
        options = make_options(fuse=options.words()["fuse"], residual=0, divide="changed", row=words.get("row"),
                               layers=options.range(count, asked.name))
    chosen = range(*options.range(count, asked.name))
    if item is not None and not -len(asked.tokens) <= item < len(asked.tokens):
        raise Error(f"capture: has no item {item}, expected 0 to {len(asked.tokens) - 1} (or -1 for the last); choose "
                    "another")
    items = range(len(asked.tokens)) if item is None else [range(len(asked.tokens))[item]]
    y, targets = chosen_output(seen, asked, target, position)
    gradients = back(asked.records, y)
    fuse, values, notes = options.words()["fuse"], [], []
    for k in items:
        if not asked.tokens[k]:
            raise Error(f"capture: item {k} is all padding, expected a token; leave it out")
        maps = (finite(positive(asked.records[l], gradients[l], k, fuse, asked.real[k]), asked.layers[l], k).to(asked.device)
                for l in chosen)
        value, noted = join(rule, maps, options, asked.tokens[k])
        values.append(value)
        notes.append([*noted, *asked.notes])
    result = packed(asked, values, notes, items, options, len(asked.tokens) > 1 and item is None, words)
    inputs = input_gradients(asked, y)
    result._set_target(rule, [targets[k] for k in items], None if inputs is None else [inputs[k] for k in items])
    return result


def input_gradients(asked: Answer, y: Tensor) -> list[tuple[Tensor, Tensor]] | None:
    """The length of dy/dx for the embedding x of each token, and x dy/dx; None if the embeddings are not known."""
    embedded = asked.run.one.embedded
    if embedded is None or tuple(embedded.shape[:2]) != (len(asked.tokens), asked.length):
        return None
    grad, = derivatives(y, [embedded])
    if grad is None:
        return None
    norm, times = grad.float().norm(dim=-1), (grad.float() * embedded.detach().float()).sum(-1)
    return [(norm[k] if keep is None else norm[k][keep.to(norm.device)],
             times[k] if keep is None else times[k][keep.to(norm.device)]) for k, keep in enumerate(asked.real)]


def derivatives(y: Tensor, of: list[Tensor]) -> Sequence[Tensor | None]:
    """dy/dx of each; None where y does not depend on it."""
    try:
        return torch.autograd.grad(y.sum(), of, retain_graph=True, allow_unused=True)
    except RuntimeError as wrong:
        if "second time" in str(wrong) or "inplace operation" in str(wrong):
            raise Error("gradient: the graph of the pass is gone, as after backward() or an optimizer's step, expected it "
                        "as it was; ask before these, or call backward(retain_graph=True)") from None
        raise


def back(records: list[Record], y: Tensor) -> list[Tensor]:
    """dy/dO of every layer; of a layer without attention, nothing."""
    known = [record for record in records if not isinstance(record, PassingOn)]
    outs = [record.out for record in known if record.out is not None]
    if len(outs) < len(known):
        raise Error("gradient: the model ran without gradients, or its attention came by hooks; run it without "
                    "torch.no_grad(), and not with how='eager'")
    if any(record.dropout for record in known):
        raise Error("gradient: the model ran with dropout, expected none; call model.eval() first")
    each = derivatives(y, outs)
    if all(one is None for one in each):
        raise Error("gradient: the `target` does not depend on the attention of these layers, expected an output that does; "
                    "choose another target or `stack`")
    found = iter(each)
    gradients = []
    for record in records:
        if record.out is None:
            gradients.append(torch.zeros(()))
            continue
        grad = next(found)
        gradients.append(torch.zeros_like(record.out) if grad is None else grad.detach())
    return gradients


def chosen_output(seen: Recording, asked: Answer, target: Target,
                  position: int | None) -> tuple[Tensor, list[OutputFacts]]:
    """The outputs y, one for each item, and what to record about them."""
    one, items = asked.run.one, len(asked.tokens)
    if one.output is None:
        raise Error("gradient: the model ran without gradients, or its attention came by hooks; run it without "
                    "torch.no_grad(), and not with how='eager'")
    if not any(parameter.requires_grad for parameter in seen.model.parameters()) and \
            (asked.run.one.embedded is None or not asked.run.one.embedded.requires_grad):
        raise Error("gradient: no weight of the model has gradients, as after requires_grad_(False), expected some; call "
                    "model.requires_grad_(True) before the pass, or ask .relevance(), which needs none")
    if callable(target):
        y = torch.as_tensor(target(one.output))
        if not y.requires_grad or y.ndim > 1 or y.numel() not in (1, items):
            raise Error(f"`target`: the function returned shape {list(y.shape)}, expected one number with gradients, "
                        f"or one for each of the {items} items; compute it from the model's output")
        name = getattr(target, "__name__", "function")
        each = y.detach().reshape(-1).tolist()
        return y, [OutputFacts(name=name, value=each[k if len(each) > 1 else 0]) for k in range(items)]
    logits = getattr(one.output, "logits", one.output)
    if not isinstance(logits, torch.Tensor) or logits.ndim not in (2, 3) or not logits.requires_grad:
        raise Error("gradient: the model returns no logits, expected [B, classes] or [B, n, words]; give `target` a "
                    "function of its output")
    if len(logits) != items:
        raise Error(f"gradient: the model returns logits of {len(logits)} items for {items} items of attention, "
                    "expected as many; give `target` a function of its output")
    rows = torch.arange(len(logits), device=logits.device)
    places: list[int | None] = [None] * items
    if logits.ndim == 3:
        kept, shown = zip(*(place_of(asked, logits, k, position) for k in range(items)))
        places = list(shown)
        logits = logits[rows, torch.tensor(kept, device=logits.device)]
    elif position is not None:
        raise Error("`position`: was given, but the model has one output for each item; leave it out")
    words = places[0] is not None
    wanted = chosen_ids(seen, target, logits, words)
    y = logits[rows, wanted]
    found = []
    for k, (number, value) in enumerate(zip(wanted.tolist(), y.tolist())):
        name = output_names.name_of(seen, number, logits.shape[-1], words)
        found.append(OutputFacts(name=name, id=number, row=places[k], value=value))
    return y, found


def place_of(asked: Answer, logits: Tensor, item: int, position: int | None) -> tuple[int, int]:
    """The position of an item whose logits are meant, among all and among its real ones, which `position` counts."""
    length = logits.shape[1]
    if length == asked.length and not asked.run.stack.name.startswith("encoder") and not is_encoder(asked):
        keep = asked.real[item]
        kept = list(range(length)) if keep is None else keep.tolist()
    else:
        kept = list(range(length))
        told = [{"attention_mask": one["decoder_attention_mask"]} for one in [asked.run.one.told]
                if "decoder_attention_mask" in one]
        mask = told_mask(told, len(logits), length, logits.device)
        if mask is not None:
            kept = mask[item].nonzero()[:, 0].tolist()
        elif length not in (1, asked.length) and not is_encoder(asked) and any(one is not None for one in asked.real):
            raise Error(f"gradient: the model returns logits of {length} positions for {asked.length} tokens with "
                        "padding, expected as many; give `target` a function of its output")
    position = -1 if position is None else position
    if not -len(kept) <= position < len(kept):
        raise Error(f"`position` {position}: is not there, expected 0 to {len(kept) - 1} (or -1 for the last); choose "
                    "another")
    return int(kept[position]), range(len(kept))[position]


def is_encoder(asked: Answer) -> bool:
    """Whether the layers are those of an encoder whose decoder made the logits."""
    return any(entry.across for entry in asked.run.one.entries)


def chosen_ids(seen: Recording, target: Target, logits: Tensor, rows: bool) -> Tensor:
    """The number of the class or token of each item."""
    if isinstance(target, str) and target == "best":
        return logits.argmax(-1)
    each = list(target) if isinstance(target, (list, tuple)) else [target]
    numbers: object = target
    if any(isinstance(one, str) for one in each):
        found = [output_names.number_of(seen, one, logits.shape[-1], rows) for one in each]
        numbers = found if len(found) > 1 else found[0]
    try:
        given = torch.as_tensor(numbers, device=logits.device)
        if given.is_floating_point() or given.dtype == torch.bool:
            raise TypeError("no whole numbers")
        wanted = given.to(torch.int64).expand(len(logits))
    except (TypeError, ValueError, RuntimeError):
        raise Error(f"`target` {target!r}: expected 'best', a class or token, one for each of the {len(logits)} items, "
                    "or a function of the model's output") from None
    if bool((wanted >= logits.shape[-1]).any()) or bool((wanted < 0).any()):
        raise Error(f"gradient: there is no `target` {target}, expected 0 to {logits.shape[-1] - 1}; choose another")
    return wanted


def positive(record: Record, gradient: Tensor, item: int, fuse: str, real: Positions) -> Tensor:
    """Fused (A (x) dO V^T)^+ of an item, [n, n] float32."""
    if record.value is None:
        n = record.queries if real is None else len(real)
        return torch.zeros(n, n)  # a layer without attention
    group = record.heads // record.value.shape[1]
    grad = gradient if record.heads_last else four_heads_last(gradient)
    value = record.value.detach()[item]
    real = real if real is None else real.to(value.device)
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


def finite(map: Tensor, layer: str, item: int) -> Tensor:
    """The map. Raises if it holds a number that is not finite."""
    if not bool(torch.isfinite(map).all()):
        raise Error(f"{layer}: attention or gradients of item {item} hold a number that is not finite, expected numbers; the "
                    "model computed it: check its weights and precision")
    return map


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
        there = Maps(make, [tokens], [1] * len(maps), "gradient", maps[0].device, len(tokens), False)
        matrices, empty = roll(there, 0, chosen, rows, False)
        return matrices[0], [_engine.empty_rows_note(empty, options)] if empty else []
    inputs = _engine.from_rows(make, [tokens], [1] * len(maps), "gradient", len(tokens), False)
    results = _engine.rollout(inputs, [0], chosen)
    return pick(torch.from_numpy(results.matrix(0)), rows), results.facts(0)["notes"]


def packed(asked: Answer, values: list[Tensor], notes: list[list[str]], items: Sequence[int], options: _engine.Options,
           batch: bool, words: Mapping[str, Any]) -> DeviceAttribution:
    results = _engine.Results()
    for k, item in enumerate(items):
        names = asked.tokens[item]
        rows = options.rows(names, "gradient")
        results.add("gradient", options, names, [] if isinstance(rows, str) else rows, [], asked.heads, notes[k],
                    asked.name, k, len(items), len(names))
    values = [value[0] if one_row(words) and value.shape[0] == 1 else value for value in values]
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0],
                             images=[asked.images[item] for item in items])
