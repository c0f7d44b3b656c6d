"""The methods in torch, for attention that lies on a GPU: the engine's own steps, on the device, item by item.

Maps come from a `Stack`: `map(item, layer, fuse, first, count)` gives [count, n] float32 on the device, so that no
more than a few n x n matrices exist. The engine remains the judge: the tests hold this file against it on the CPU.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Iterator

import numpy as np

from . import _engine
from ._engine import Error
from .arguments import one_row, split
from .arrays import Kind, common_device, is_torch, to_numpy
from .result import Attribution, Metrics
from .source import from_layers, layers_of, read_words, spread, token_lists

SUM_TOLERANCE = 1e-2  # how far the engine lets a row's sum be from 1


class Stack:
    """Fused maps of a batch on a device, made when asked for."""

    def __init__(self, rows: Callable[[int, int, str, int, int], Any], tokens: list[list[str]], heads: list[int],
                 name: str, device: Any, padded: int, batch: bool, *,
                 lower: Callable[[int], bool] = lambda item: False, coarse: bool = False):
        self.rows, self.tokens, self.heads, self.name = rows, tokens, heads, name
        self.device, self.padded, self.batch = device, padded, batch
        self.lower, self.coarse = lower, coarse  # an item's maps are lower triangular; come from half precision

    def map(self, item: int, layer: int, fuse: str) -> Any:
        return self.rows(item, layer, fuse, 0, len(self.tokens[item]))


def lies_on_device(attention: Any) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    if hasattr(attention, "on_device"):  # a capture
        return attention.on_device()
    first = attention
    attentions = getattr(attention, "attentions", None)
    if isinstance(attentions, (list, tuple)) and attentions:
        first = attentions[0]
    elif isinstance(attention, (list, tuple)) and attention:
        first = attention[0]
    return is_torch(first) and first.device.type != "cpu"


def fused(heads: Any, fuse: str) -> Any:
    """[H, ...] to [...] float32."""
    if fuse.startswith("head:"):
        return heads[int(fuse[5:])].float()
    if fuse == "mean":
        return heads.mean(0, dtype=heads.dtype if heads.dtype.itemsize > 4 else sys.modules["torch"].float32).float()
    return (heads.amax(0) if fuse == "max" else heads.amin(0)).float()


def stack_of(attention: Any, tokens: Any = None, attention_mask: Any = None, name: str = "memory",
             sums: str = "checked", call: int | None = None) -> Stack:
    """Layers on a device as a Stack: [n, n], [H, n, n] or [B, H, n, n] each. Rows are checked as the engine does."""
    if hasattr(attention, "as_stack"):
        return attention.as_stack(tokens=tokens, attention_mask=attention_mask, call=-1 if call is None else call)
    if call is not None:
        raise Error("call: is for captures, expected none beside other attention; leave it out")
    torch = sys.modules["torch"]
    layers = layers_of(attention)
    device = common_device(layers, name)
    if is_torch(attention) and layers[0].ndim in (3, 4, 5):
        layers = list(layers[0])
    layers = [layer[None, None] if layer.ndim == 2 else layer[None] if layer.ndim == 3 else layer for layer in layers]
    shapes = {(layer.shape[0], *layer.shape[2:]) for layer in layers}
    if len(shapes) > 1 or layers[0].ndim != 4 or layers[0].shape[-1] != layers[0].shape[-2]:
        found = ", ".join(sorted({str(tuple(layer.shape)) for layer in layers}))
        raise Error(f"{name}: has layers of shape {found}, expected [B, H, n, n] with the same B and n; give the "
                    "layers of one input")
    items, n = layers[0].shape[0], layers[0].shape[-1]
    mask = np.ones((items, n), bool) if attention_mask is None else np.broadcast_to(
        to_numpy(attention_mask) != 0, (items, n))
    kept = [torch.as_tensor(np.flatnonzero(real), device=device) for real in mask]
    lists = spread(token_lists(tokens), mask)
    read_words(sums, "error")
    if len(lists) not in (0, 1, items) or any(len(words) != n for words in lists):
        raise Error(f"{name}: its tokens do not fit, expected {n}, one for each position; give those of the same input")
    words = [[(lists[item] if len(lists) > 1 else lists[0] if lists else [str(j) for j in range(n)])[j]
              for j in np.flatnonzero(mask[item])] for item in range(items)]

    looked: set[tuple[int, int]] = set()

    def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Any:
        real, heads = kept[item], layers[layer][item]
        if (item, layer) not in looked and suspicious(heads if len(real) == n else heads[:, real][..., real], sums):
            on_host = from_layers([one.cpu() for one in layers], attention_mask=mask.astype(np.float32), sums=sums)
            _engine.raw(on_host.inputs, [item], layer, _engine.Options())
        looked.add((item, layer))
        return fused(heads, fuse)[real[first:first + count]][:, real]

    return Stack(rows, words, [layer.shape[1] for layer in layers], name, device, n, items > 1)


def suspicious(heads: Any, sums: str) -> bool:
    """Whether the engine should look at these rows, and say what is wrong with them."""
    torch = sys.modules["torch"]
    found = heads.sum(-1, dtype=torch.float32)
    bad = ~found.isfinite() if sums == "any" else ~((found - 1).abs() <= 0.99 * SUM_TOLERANCE)
    return bool(bad.any()) or bool((heads < 0).any())


def divide(map: Any, empty: str) -> Any:
    """Rows by their sums, in place. Returns how many had nothing to divide by, on the device: to ask is to wait."""
    torch = sys.modules["torch"]
    sums = map.sum(-1, dtype=torch.float64)
    gone = sums <= 0
    map /= torch.where(gone, 1.0, sums)[:, None].to(map.dtype)
    if empty == "identity":
        map.diagonal().masked_fill_(gone, 1)
    return gone.sum()


def discard(map: Any, share: float) -> bool:
    rank = int(np.floor(map.numel() * share))
    if share <= 0:
        return False
    threshold = map.flatten().kthvalue(rank + 1).values
    map.masked_fill_(map < threshold, 0)
    return True


def prepare(map: Any, options: dict[str, Any]) -> Any:
    """One fused map to the layer's matrix, in place, as layer/layers.h has it. Returns how many rows were empty."""
    r, d, always = options["residual"], options["discard"], options["divide"] == "always"
    if options["order"] == "discard-first":
        changed = discard(map, d)
        if r > 0:
            map.mul_(1 - r).diagonal().add_(r)
        return divide(map, options["empty"]) if always or changed or r > 0 else 0
    empty = 0
    if r > 0:
        map.mul_(1 - r).diagonal().add_(r)
    if always or r > 0:
        empty = divide(map, options["empty"])
    if discard(map, d):
        empty += divide(map, options["empty"])
    return empty


def prepared(stack: Stack, item: int, words: dict[str, Any], layers: range) -> Iterator[tuple[int, Any, Any]]:
    for layer in layers:
        map = stack.map(item, layer, words["fuse"])
        as_it_is = words["preset"] == "metrics" and layer == min(layers)
        yield layer, map, 0 if as_it_is else prepare(map, words)


def roll(stack: Stack, item: int, options: _engine.Options, rows: Any, by_layer: bool) -> tuple[list[Any], Any]:
    """Rollout of an item: one matrix, or one for each top layer; and the rows that were empty."""
    torch = sys.modules["torch"]
    from .products import product
    words = options.words()
    begin, end = options.range(len(stack.heads), stack.name)
    turned = words["preset"] == "metrics"  # A_0 A_1 ... instead of ... A_1 A_0
    n = len(stack.tokens[item])
    total, out, empty = None, [], 0
    if not by_layer and (rows == "mean" or len(rows) < n):
        total = torch.full((1, n), 1 / n, device=stack.device) if rows == "mean" else torch.nn.functional.one_hot(
            torch.tensor(rows, device=stack.device), n).float()
        order = range(begin, end) if turned else range(end - 1, begin - 1, -1)
        for _, map, gone in prepared(stack, item, words, order):
            total, empty = total @ map, empty + gone
        return [total], empty
    how = dict(lower=stack.lower(item), coarse=stack.coarse)
    for _, map, gone in prepared(stack, item, words, range(begin, end)):
        if total is None:
            total = map
        else:
            total = product(total, map, **how) if turned else product(map, total, into=map, **how)
        empty += gone
        if by_layer:
            out.append(pick(total, rows))
    return out if by_layer else [pick(total, rows)], empty


def pick(matrix: Any, rows: Any) -> Any:
    if rows == "mean":
        return matrix.mean(0, keepdim=True)
    return matrix if len(rows) == len(matrix) else matrix[rows]


def mean_of_layers(stack: Stack, item: int, options: _engine.Options, rows: Any) -> tuple[list[Any], Any]:
    begin, end = options.range(len(stack.heads), stack.name)
    total, empty = None, 0
    for _, map, gone in prepared(stack, item, options.words(), range(begin, end)):
        total, empty = map if total is None else total.add_(map), empty + gone
    return [pick(total / (end - begin), rows)], empty


def device_method(method: str, attention: Any, *, by_layer: bool = False, layer: int = -1, item: int | None = None,
                  tokens: Any = None, attention_mask: Any = None, sums: str = "checked", call: int | None = None,
                  **words: Any) -> Attribution:
    """rollout, average or raw on a device; the values stay there."""
    options, rest = split(words)
    if rest:
        raise TypeError(f"{method}() got an unexpected keyword '{next(iter(rest))}'")
    stack = stack_of(attention, tokens, attention_mask, sums=sums, call=call)
    items = range(len(stack.tokens)) if item is None else [range(len(stack.tokens))[item]]
    results, values = _engine.Results(), []
    for k in items:
        rows = options.rows(stack.tokens[k], stack.name)
        if method == "raw":
            matrices, empty = [pick(stack.map(k, range(len(stack.heads))[layer], options.words()["fuse"]), rows)], 0
        elif method == "average":
            matrices, empty = mean_of_layers(stack, k, options, rows)
        else:
            matrices, empty = roll(stack, k, options, rows, by_layer)
        begin, end = options.range(len(stack.heads), stack.name)
        empty = int(empty)
        notes = [f"{empty} rows had nothing to divide by"] if empty else []
        one = one_row(words) and matrices[0].shape[0] == 1
        value = matrices if by_layer else matrices[0]
        value = sys.modules["torch"].stack(value) if by_layer else value
        # The record holds the numbers only once they are asked for: they stay on the device until then.
        results.add(method, options, np.zeros((len(matrices), 0, len(stack.tokens[k]))), stack.tokens[k],
                    [] if rows == "mean" else rows, list(range(begin, end)) if by_layer else [], stack.heads, notes,
                    stack.name, item=k, items=len(stack.tokens))
        values.append(value[..., 0, :] if one else value)
    batch = stack.batch and item is None
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0])


class DeviceAttribution(Attribution):
    """A result whose values lie on a device; they come over when it is written."""

    def _record(self) -> _engine.Results:
        from .result import rebuilt
        if not self.batch:
            return rebuilt(self)
        out = _engine.Results()
        for k in range(len(self.tokens)):
            out.join(rebuilt(self.item(k), item=k))
        return out

    def to_json(self, *, filter: str = "", renormalise: bool = False) -> str:
        return self._record().json(filter=filter, renormalise=renormalise, list=self.batch)

    def save(self, path: Any, *, filter: str = "", renormalise: bool = False) -> None:
        self._record().save(str(path), filter=filter, renormalise=renormalise, list=self.batch)


class Sums:
    """The metrics of one or more items while they add up: what is summed, and what is largest."""

    def __init__(self) -> None:
        self.entries = self.rows = self.items = self.length = 0
        self.attention = self.entropy = self.concentration = self.rollout_entropy = 0.0
        self.max_attention = self.rollout_max = 0.0

    def add(self, attention: Any, rollout: Any) -> None:
        """One item: A and R, [n, n] each."""
        torch = sys.modules["torch"]
        a = attention.double() if attention.shape[0] <= 2048 else attention
        self.entries += a.numel()
        self.rows += a.shape[0]
        self.items += 1
        self.attention += float(a.sum(dtype=torch.float64))
        self.max_attention = max(self.max_attention, float(a.max()))
        self.entropy += float(-(a * a.clamp_min(1e-12).log()).sum(dtype=torch.float64))
        self.concentration += float(a.amax(-1).sum(dtype=torch.float64))
        self.rollout_max = max(self.rollout_max, float(rollout.max()))
        p = rollout.double() if rollout.shape[0] <= 2048 else rollout
        p = p / p.sum(-1, keepdim=True).clamp_min(1e-10)
        self.rollout_entropy += float(-(p * p.clamp_min(1e-12).log()).sum(dtype=torch.float64))

    def merge(self, other: "Sums") -> None:
        """The items of another beside these."""
        for name in ("entries", "rows", "items", "attention", "entropy", "concentration", "rollout_entropy"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("length", "max_attention", "rollout_max"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))

    def numbers(self) -> dict[str, Any]:
        return dict(mean_attention=self.attention / self.entries, max_attention=self.max_attention,
                    attention_entropy=self.entropy / self.rows, attention_concentration=self.concentration / self.rows,
                    rollout_max=self.rollout_max, rollout_entropy=self.rollout_entropy / self.rows,
                    batch_size=self.items, seq_length=self.length)


def device_metrics(attention: Any, *, layer: int = -1, tokens: Any = None, attention_mask: Any = None,
                   sums: str = "checked", call: int | None = None, **words: Any) -> Metrics:
    words.setdefault("preset", "metrics")
    options, rest = split(words)
    if rest:
        raise TypeError(f"metrics() got an unexpected keyword '{next(iter(rest))}'")
    stack = stack_of(attention, tokens, attention_mask, sums=sums, call=call)
    total = Sums()
    total.length = stack.padded
    for k in range(len(stack.tokens)):
        rows = list(range(len(stack.tokens[k])))
        matrices, _ = roll(stack, k, options, rows, False)
        total.add(stack.map(k, range(len(stack.heads))[layer], "mean"), matrices[0])
    begin, end = options.range(len(stack.heads), stack.name)
    return Metrics(total.numbers(), options.words() | {"layers": [begin, end]})
