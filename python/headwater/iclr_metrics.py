"""Eight numbers on the attention of a model's batch, under the name and with the keys that people have.

The model runs as it is, sdpa or flash; each layer's map is folded as it arrives, so that a few n x n an item exist,
whatever the numbers of layers and heads. A batch is run in pieces where it would not fit.
"""
from __future__ import annotations

from collections import deque
from typing import Any, Mapping

import torch

from . import _engine, memory
from ._engine import Error
from .arguments import make_options
from .capturing import CROSS, Capture, check_model
from .capturing.padding import real_positions
from .device import Sums
from .result import Metrics


class ICLRMetrics:
    """`ICLRMetrics().compute_attention_attribution(model, input_batch)`."""

    def compute_attention_attribution(self, model: Any, input_batch: Mapping[str, Any], layer_idx: int = -1,
                                      attention_layer_pattern: str | None = None) -> Metrics:
        return compute_attention_attribution(model, input_batch, layer_idx, attention_layer_pattern)

    def _compute_attention_rollout_efficient(self, attention_tensors: Any) -> dict[str, Any]:
        """rollout_max and rollout_entropy of layers that are there already: [B, H, n, n], [B, n, n] or [n, n] each."""
        sums = Sums()
        stacked = [heads_first(one) for one in attention_tensors]
        for item in range(stacked[0].shape[0]):
            fold = Fold(len(stacked) - 1)
            for layer in stacked:
                fold.add(layer[item].float().mean(0))
            sums.add(*fold.results())
        return {key: value for key, value in sums.numbers().items() if key.startswith("rollout")}


def heads_first(layer: Any) -> Any:
    """[B, H, n, n] of [B, n, n] or [n, n], which stand for one head."""
    return layer if layer.ndim == 4 else layer[:, None] if layer.ndim == 3 else layer[None, None]


class Fold:
    """An item, or items of one length, while the layers arrive: R = A_0 A_1 ..., and the layer that the other numbers
    are of. A layer is [n, n], of several items [B, n, n].
    """

    OPTIONS = make_options(preset="metrics").words()

    def __init__(self, layer: int):
        self.layer = layer
        self.count = 0
        self.rollout: Any = None
        self.last: deque[Any] = deque(maxlen=max(1, -layer) if layer < 0 else 1)
        self.kept: Any = None

    def add(self, map: Any) -> None:
        if self.layer < 0:
            self.last.append(map.clone())
        elif self.count == self.layer:
            self.kept = map.clone()
        if self.rollout is None:
            self.rollout = map
        elif map.device.type == "cpu":
            total = torch.empty_like(map)
            _engine.fold(self.rollout, map, total, self.OPTIONS["residual"])
            self.rollout = total
        else:
            self.rollout = self.rollout @ with_residual(map, self.OPTIONS["residual"])
        self.count += 1

    def results(self) -> tuple[Any, Any]:
        if self.layer < 0 and self.count >= -self.layer:
            return self.last[0], self.rollout
        if self.kept is None:
            raise Error(f"capture: has no layer {self.layer}, expected {-self.count} to {self.count - 1}; choose "
                        "another")
        return self.kept, self.rollout


def with_residual(map: Any, r: float) -> Any:
    """(1 - r) A + r I with rows divided by their sums, in place."""
    map.mul_(1 - r).diagonal(dim1=-2, dim2=-1).add_(r)
    return map.div_(map.sum(-1, keepdim=True))


def compute_attention_attribution(model: Any, input_batch: Mapping[str, Any], layer_idx: int = -1,
                                  attention_layer_pattern: str | None = None) -> Metrics:
    """Runs `model(**input_batch)` and gives mean_attention, max_attention, attention_entropy,
    attention_concentration (of layer `layer_idx`), rollout_max, rollout_entropy, batch_size and seq_length.

    input_batch: input_ids [B, n], attention_mask [B, n] and whatever else the model takes. attention_layer_pattern
    is a regular expression that matches the whole names of the modules to look at. Raises headwater.Error.
    """
    check_model(model)
    each = item_sums(model, input_batch, layer_idx, attention_layer_pattern)
    total = Sums()
    for one in each:
        total.merge(one)
    return Metrics(total.numbers(), dict(Fold.OPTIONS))


def item_sums(model: Any, batch: Mapping[str, Any], layer: int = -1, pattern: str | None = None) -> list[Sums]:
    """The sums of every item of a batch, run in pieces that fit."""
    if not isinstance(batch, Mapping):
        raise Error(f"input_batch: is a {type(batch).__name__}, expected a dictionary for model(**input_batch); give "
                    "the model's keyword arguments")
    first = next((value for value in batch.values() if hasattr(value, "shape") and value.ndim > 0), None)
    if first is None:
        raise Error("input_batch: holds no tensor, expected input_ids or what else the model takes; give its keyword "
                    "arguments")
    items, length = first.shape[0], first.shape[1] if first.ndim == 2 else 0
    out: list[Sums] = []

    def work(begin: int, end: int) -> None:
        out.extend(run_piece(model, memory.cut(batch, begin, end, items), end - begin, layer, pattern))

    memory.in_pieces(items, memory.first_piece(model, items, length or 256, first.device), work)
    return out


def run_piece(model: Any, batch: Mapping[str, Any], items: int, layer: int, pattern: str | None) -> list[Sums]:
    whole, folds = Fold(layer), [Fold(layer) for _ in range(items)]
    length = 0
    real: list[Any] = []
    padding: Any = None

    def listen(record: Any, current: Any) -> None:
        nonlocal length, real, padding
        if CROSS.search(record.name) or record.queries != record.keys:
            return
        if not real:
            real = real_positions(current.told.get("attention_mask", batch.get("attention_mask")), items,
                                  record.queries, record.device)
            length = record.queries
            padding = unreal(real, length, record.device)
        if record.queries != length:
            return
        if record.device.type != "cpu":  # all items at once: a GPU is fast at that, and slow at many small things
            maps = record.maps()
            whole.add(maps if padding is None else maps.masked_fill_(padding, 0))
            return
        for item, fold in enumerate(folds):
            n = length if real[item] is None else len(real[item])
            fold.add(record.map(item, "mean", range(n), real[item], real[item]))

    seen = Capture(model, how=None, fuse="mean", pattern=pattern, tokenizer=None,
                   attention_mask=batch.get("attention_mask"), keep="inputs")
    seen.listener = listen
    with torch.no_grad(), seen:
        model(**batch)
    if not whole.count and not any(fold.count for fold in folds):
        raise Error(seen.nothing())
    if whole.count:
        pairs = [tuple(one[item] if real[item] is None else one[item][real[item]][:, real[item]]
                       for one in whole.results()) for item in range(items)]
    else:
        pairs = [fold.results() for fold in folds]
    out = []
    for pair in pairs:
        sums = Sums()
        sums.length = length
        sums.add(*pair)
        out.append(sums)
    return out


def unreal(real: list[Any], length: int, device: Any) -> Any:
    """[B, n, n], true where a row or a column is padding; None where nothing is."""
    if all(one is None for one in real):
        return None
    seen = torch.ones(len(real), length, dtype=torch.bool, device=device)
    for item, one in enumerate(real):
        if one is not None:
            seen[item] = False
            seen[item, one] = True
    return ~(seen[:, :, None] & seen[:, None, :])
