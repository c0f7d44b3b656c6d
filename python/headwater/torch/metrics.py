"""The eight metrics of a running model's batch, item by item.

The model runs as it is, under sdpa or flash attention. Each layer's map is folded as it arrives, so a few n x n matrices
an item exist, regardless of the number of layers and heads. A batch that would not fit in memory runs in pieces.
"""
from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

import torch
from torch import Tensor

from .. import _engine
from ..arguments import make_options
from ..errors import Error
from ..kinds import Given
from ..result import Metrics
from . import memory
from .capturing import Capture
from .device import prepare
from .padding import real_positions
from .passes import Pass
from .blocks import Positions
from .passing_on import PassingOn
from .record import Record
from .stacks import owner_of

BLOCK_NUMBERS = 1 << 25  # of matrices whose metrics are summed in double precision at a time


class Sums:
    """The metrics of one or more items while they add up: sums, and largest values."""

    def __init__(self) -> None:
        self.entries = self.rows = self.items = self.length = 0
        self.attention = self.entropy = self.concentration = self.rollout_entropy = 0.0
        self.max_attention = self.rollout_max = 0.0
        self.heads: list[int] = []  # of each layer

    def add(self, attention: Tensor, rollout: Tensor) -> None:
        """Adds one item: A and R, [n, n] each."""
        self.entries += attention.numel()
        self.rows += attention.shape[0]
        self.items += 1
        height = max(1, BLOCK_NUMBERS // attention.shape[-1])
        for a, r in zip(torch.split(attention, height), torch.split(rollout, height)):
            self._add_rows(a.double(), r.double())

    def _add_rows(self, a: Tensor, r: Tensor) -> None:
        self.attention += float(a.sum())
        self.max_attention = max(self.max_attention, float(a.max()))
        self.entropy += float(-(a * a.clamp_min(1e-12).log()).sum())
        self.concentration += float(a.amax(-1).sum())
        self.rollout_max = max(self.rollout_max, float(r.max()))
        p = r / r.sum(-1, keepdim=True).clamp_min(1e-10)
        self.rollout_entropy += float(-(p * p.clamp_min(1e-12).log()).sum())

    def merge(self, other: Sums) -> None:
        """Adds the items of another."""
        for name in ("entries", "rows", "items", "attention", "entropy", "concentration", "rollout_entropy"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("length", "max_attention", "rollout_max"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.heads = self.heads or other.heads

    def metrics(self, options: _engine.Options, layer: int, name: str, notes: list[str]) -> Metrics:
        """The metrics of what was added, as a result."""
        results = _engine.Results()
        results.add_metrics(self.numbers(), options, self.heads, range(len(self.heads))[layer], name, notes)
        return Metrics(results)

    def numbers(self) -> dict[str, float]:
        return dict(mean_attention=self.attention / self.entries, max_attention=self.max_attention,
                    attention_entropy=self.entropy / self.rows, attention_concentration=self.concentration / self.rows,
                    rollout_max=self.rollout_max, rollout_entropy=self.rollout_entropy / self.rows,
                    batch_size=self.items, seq_length=self.length)


class Fold:
    """An item, or items of one length, while the layers arrive: R = A_0 A_1 ..., and the layer A of the other numbers.

    A layer is [n, n], or [B, n, n] for several items.
    """

    OPTIONS = make_options(preset="metrics")

    def __init__(self, layer: int):
        self.layer = layer
        self.count = 0
        self.rollout: Tensor | None = None
        self.last: deque[Tensor] = deque(maxlen=max(1, -layer) if layer < 0 else 1)
        self.kept: Tensor | None = None

    def add(self, map: Tensor) -> None:
        if self.layer < 0:
            self.last.append(map.clone())
        elif self.count == self.layer:
            self.kept = map.clone()
        if self.rollout is None:
            self.rollout = map
        elif map.device.type == "cpu":
            total = torch.empty_like(map)
            _engine.fold(self.rollout.numpy(), map.numpy(), total.numpy(), self.OPTIONS)
            self.rollout = total
        else:
            prepare(map, self.OPTIONS.words())
            self.rollout = self.rollout @ map
        self.count += 1

    def results(self) -> tuple[Tensor, Tensor]:
        """A and R."""
        found = self.last[0] if self.layer < 0 and self.count >= -self.layer else self.kept
        if found is None or self.rollout is None:
            raise Error(f"capture: has no layer {self.layer}, expected {-self.count} to {self.count - 1}; choose "
                        "another")
        return found, self.rollout


def total_of(each: Iterable[Sums]) -> Sums:
    total = Sums()
    for one in each:
        total.merge(one)
    return total


@dataclass
class Folds:
    """The layers of one stack while they arrive."""

    layer: int
    real: list[Positions]
    length: int
    padding: Tensor | None
    device: torch.device | None = None  # of the first layer, to which the maps of the others go
    count: int = 0  # of the layers that arrived
    whole: Fold = field(init=False)  # all items at once: a GPU is slow at many small operations
    each: list[Fold] = field(init=False)

    def __post_init__(self) -> None:
        self.whole, self.each = Fold(self.layer), [Fold(self.layer) for _ in self.real]

    def add(self, record: Record) -> None:
        if record.batch != len(self.real) or record.queries != self.length:
            return  # reported at the end, with names
        self.count += 1
        self.device = self.device or record.device
        if self.device.type != "cpu":
            maps = record.maps().to(self.device)
            maps = maps if self.padding is None else maps.masked_fill_(self.padding.to(self.device), 0)
            if not bool(torch.isfinite(maps.sum(-1)).all()):
                raise Error(f"{record.name}: holds NaN, expected numbers; the model computed it: check its weights and "
                            "precision")
            self.whole.add(maps)
            return
        for item, (fold, keep) in enumerate(zip(self.each, self.real)):
            if keep is None or len(keep):
                rows = range(self.length if keep is None else len(keep))
                fold.add(record.map(item, "mean", rows, keep, keep).to(self.device))

    def sums(self) -> list[Sums]:
        out = []
        for item, (fold, keep) in enumerate(zip(self.each, self.real)):
            if keep is not None and not len(keep):
                raise Error(f"input_batch: item {item} is all padding, expected a token; leave it out")
            a, r = self.whole.results() if self.whole.count else fold.results()
            keep = None if keep is None else keep.to(a.device)
            if self.whole.count:
                a, r = (one[item] if keep is None else one[item][keep][:, keep] for one in (a, r))
            sums = Sums()
            sums.length = self.length
            sums.add(a, r)
            out.append(sums)
        return out


def item_sums(model: torch.nn.Module, batch: Given, layer: int, pattern: str | None,
              **asked: Any) -> tuple[list[Sums], list[str]]:
    """The sums of each item of a batch, which runs in pieces that fit in memory, and notes."""
    if not isinstance(batch, Mapping):
        raise Error(f"input_batch: is a {type(batch).__name__}, expected a dictionary for model(**input_batch); give "
                    "the model's keyword arguments")
    first = next((value for value in batch.values() if isinstance(value, Tensor) and value.ndim > 0), None)
    if first is None:
        raise Error("input_batch: holds no tensor, expected input_ids or other inputs; give the model's keyword "
                    "arguments")
    items, length = first.shape[0], first.shape[1] if first.ndim == 2 else 0
    out: list[Sums] = []
    notes: list[str] = []

    def work(begin: int, end: int) -> None:
        found, noted = run_piece(model, memory.cut(batch, begin, end, items), layer, pattern, asked)
        out.extend(found)
        notes.extend(note for note in noted if note not in notes)

    alike = all(value.shape[0] == items for value in batch.values() if isinstance(value, Tensor) and value.ndim)
    if alike:
        memory.in_pieces(items, memory.first_piece(model, items, length or 256, first.device), work)
    else:
        work(0, items)  # images of several items in one tensor cannot be told apart
    return out, notes


def run_piece(model: torch.nn.Module, batch: Given, layer: int, pattern: str | None,
              asked: Mapping[str, Any]) -> tuple[list[Sums], list[str]]:
    folds: dict[tuple[str, int], Folds] = {}  # by stack and the call of its parent

    def listen(record: Record, stack: str, current: Pass) -> None:
        entry = current.entries[-1]
        if entry.across or record.queries != record.keys:
            return
        key = stack, owner_of(entry, seen._layout.place(record.name).container)
        if key not in folds:
            real, _ = real_positions(record, entry.told, None)
            folds[key] = Folds(layer, real, record.queries, unreal(real, record.queries, record.device))
        folds[key].add(record)

    seen = Capture(model, pattern=pattern)
    seen._listener = listen
    with torch.no_grad(), seen:
        model(**batch)
    answer = seen._answer(**asked)
    if any(isinstance(record, PassingOn) for record in answer.records):
        raise Error("metrics: layers without recordable attention cannot be treated as passing everything through here; use "
                    "headwater.capture and .metrics(missing='residual')")
    found = folds.get((seen._layout.place(answer.layers[0]).stack, answer.run.owner))
    assert found is not None, "a stack that was chosen has layers that were folded"
    if found.count != len(answer.records):
        raise Error(f"{answer.name}: {found.count} layers of '{answer.run.stack.name}' ran and {len(answer.records)} of them "
                    "to their end, expected as many: an exception stopped some, and the model went on; use "
                    "headwater.capture and .metrics()")
    sums = found.sums()
    for one in sums:
        one.heads = answer.heads
    return sums, answer.notes


def chunked_maps(model: torch.nn.Module, batch: Given, size: int) -> tuple[Tensor, ...] | None:
    """The fused maps of each layer, [B, n, n] with zeros for padding, from `size` items at a time."""
    items = next((len(value) for value in batch.values() if isinstance(value, Tensor) and value.ndim), 0)
    layers: list[list[Tensor]] = []
    for begin in range(0, items, size):
        seen = Capture(model)
        with torch.no_grad(), seen:
            model(**memory.cut(batch, begin, min(begin + size, items), items))
        answer = seen._answer()
        rows = answer.rows()
        layers = layers or [[] for _ in answer.records]
        for layer, found in enumerate(layers):
            for item, keep in enumerate(answer.real):
                map = torch.zeros(answer.length, answer.length, device=answer.device)
                place = torch.arange(answer.length, device=map.device) if keep is None else keep.to(map.device)
                map[place[:, None], place] = rows(item, layer, "mean", 0, len(place))
                found.append(map)
    return tuple(torch.stack(one) for one in layers) or None


def unreal(real: list[Positions], length: int, device: torch.device) -> Tensor | None:
    """[B, n, n], true where a row or a column is padding; None if there is none."""
    if all(one is None for one in real):
        return None
    seen = torch.ones(len(real), length, dtype=torch.bool, device=device)
    for item, one in enumerate(real):
        if one is not None:
            seen[item] = False
            seen[item, one] = True
    return ~(seen[:, :, None] & seen[:, None, :])
