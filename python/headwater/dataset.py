"""The eight metrics over a whole data set: item by item, with summaries that merge and work that resumes."""
from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping

import numpy as np

from .arrays import is_torch, to_numpy
from .errors import Error
from .kinds import AnyPath, DataFrame, Device, Given
from .protocols import Described
from .saved import Output, write_text, write_whole
from .torch.recording import check_model
from .torch.metrics import item_sums

if TYPE_CHECKING:
    import torch

NUMBERS = ("mean_attention", "max_attention", "attention_entropy", "attention_concentration", "rollout_max",
           "rollout_entropy", "seq_length")
PIECE = 1 << 22  # how many weights are read at a time


class Summary:
    """How each metric is distributed over items: count, mean, standard deviation, minimum and maximum.

    The sum `a + b` of the summaries of two parts of a data set is that of both, in any order and for any batches.
    """

    def __init__(self) -> None:
        self.count = 0
        self._sums = {name: [0.0, 0.0, math.inf, -math.inf] for name in NUMBERS}  # sum, of squares, least, largest
        self.items: list[dict[str, Any]] = []  # the numbers of each item, with keep_items

    def add(self, numbers: Mapping[str, float], keep: bool = False) -> None:
        """Adds the numbers of one item."""
        self.count += 1
        for name, sums in self._sums.items():
            value = float(numbers[name])
            sums[0] += value
            sums[1] += value * value
            sums[2], sums[3] = min(sums[2], value), max(sums[3], value)
        if keep:
            self.items.append(dict(numbers))

    def __add__(self, other: Summary) -> Summary:
        out = Summary()
        out.count = self.count + other.count
        for name in NUMBERS:
            a, b = self._sums[name], other._sums[name]
            out._sums[name] = [a[0] + b[0], a[1] + b[1], min(a[2], b[2]), max(a[3], b[3])]
        out.items = self.items + other.items
        return out

    def __getitem__(self, name: str) -> dict[str, float]:
        """mean, std (over items), min and max of a metric."""
        total, squares, least, largest = self._sums[name]
        mean = total / self.count if self.count else math.nan
        spread = max(0.0, squares / self.count - mean * mean) if self.count else math.nan
        return dict(mean=mean, std=math.sqrt(spread), min=least, max=largest)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers."""
        if not isinstance(other, Summary):
            return NotImplemented
        return (self.count, self._sums, self.items) == (other.count, other._sums, other.items)

    __hash__ = None  # type: ignore[assignment]

    def keys(self) -> Iterable[str]:
        """The names of the metrics."""
        return NUMBERS

    def to_dict(self) -> dict[str, Any]:
        """The count, and the mean, std, min and max of every metric."""
        return dict(count=self.count, **{name: self[name] for name in NUMBERS})

    def to_pandas(self) -> DataFrame:
        """A table with a line for each kept item, or else for each metric."""
        import pandas
        if self.items:
            return pandas.DataFrame(self.items)
        return pandas.DataFrame([dict(metric=name, count=self.count, **self[name]) for name in NUMBERS])

    def to_json(self) -> str:
        """JSON that `from_json` reads."""
        return json.dumps(dict(count=self.count, sums=self._sums, items=self.items))

    def save(self, path: AnyPath) -> None:
        """Writes .json, which `from_json` reads."""
        if not os.fspath(path).endswith(".json"):
            raise Error(f"{os.fspath(path)}: is not .json, expected .json for a summary; use .json, or .to_pandas()")
        write_whole(os.fspath(path), {".json": lambda output: write_text(output, self.to_json())})

    def _repr_html_(self) -> str:
        from .html import numbers
        return numbers(f"metrics of {self.count} items", {
            name: f"{self[name]['mean']:.4f} +- {self[name]['std']:.4f}" for name in NUMBERS})

    @staticmethod
    def from_json(text: str) -> Summary:
        """The summary that `to_json` wrote."""
        read = json.loads(text)
        out = Summary()
        out.count, out.items = int(read["count"]), list(read["items"])
        out._sums = {name: [float(value) for value in read["sums"][name]] for name in NUMBERS}
        return out

    def __repr__(self) -> str:
        lines = [f"{name:24} {self[name]['mean']:.4f} +- {self[name]['std']:.4f}" for name in NUMBERS]
        return f"<headwater.Summary of {self.count} items>\n" + "\n".join(lines)


def metrics_over(model: torch.nn.Module, dataloader: Iterable[Given], *, layer_idx: int = -1,
                 attention_layer_pattern: str | None = None, stack: str | None = None, call: int | None = None,
                 progress: bool = True, keep_items: bool = False, resume: AnyPath | None = None,
                 device: Device | None = None) -> Summary:
    """The metrics of every item of a data set. `dataloader` yields batches, dictionaries for model(**batch).

    `resume` names a file that is rewritten after each batch; a later call with the same model, loader and options
    resumes there, and any other is refused. `keep_items` keeps the numbers of each item beside their summary. Batches
    are sent to `device`, by default the model's. `stack` chooses one of several stacks of layers, `call`
    one of its calls, where one pass makes several. Raises headwater.Error.
    """
    check_model(model)
    progressed = Progress(None if resume is None else Path(resume), dict(
        layer_idx=layer_idx, attention_layer_pattern=attention_layer_pattern, stack=stack, call=call, keep_items=keep_items))
    if resume is not None:
        progressed.load(fingerprint(model))
    device = device if device is not None else next((p.device for p in model.parameters()), None)
    summary = progressed.summary
    for number, batch in enumerate(shown(dataloader, progress)):
        if not isinstance(batch, Mapping):
            raise Error(f"dataloader: gave a {type(batch).__name__}, expected a dictionary for model(**batch); give "
                        "a collate function that makes one")
        if not progressed.next(number, batch):
            continue
        batch = {name: value.to(device) if is_torch(value) else value for name, value in batch.items()
                 if name not in ("labels", "label")}
        part = Summary()
        for sums in item_sums(model, batch, layer_idx, attention_layer_pattern, stack=stack, call=call)[0]:
            part.add(sums.numbers(), keep=keep_items)
        summary = summary + part
        progressed.save(number + 1, summary)
    progressed.end()
    return summary


def fingerprint(model: torch.nn.Module) -> str:
    """What distinguishes two models: class, config, mode, and every parameter and buffer."""
    found = hashlib.sha256(type(model).__qualname__.encode())
    config = getattr(model, "config", None)
    found.update(str(config.to_dict() if isinstance(config, Described) else config).encode())
    found.update(f"{model.training}".encode())
    for name, tensor in model.state_dict().items():
        if is_torch(tensor):
            found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype} {sums_of_bits(tensor)}".encode())
        else:
            add(found, tensor)
    return found.hexdigest()


def sums_of_bits(tensor: torch.Tensor) -> list[int]:
    """Two sums over all bits of a tensor, computed on its device. Changed or swapped numbers change them."""
    import torch
    if not tensor.numel() or tensor.device.type == "meta":
        return []
    bits = tensor.detach().reshape(-1).contiguous()
    size = bits.element_size()
    bits = bits.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}.get(size, torch.int64))
    total = torch.zeros(2, dtype=torch.int64, device=bits.device)
    for first in range(0, len(bits), PIECE):
        piece = bits[first:first + PIECE].to(torch.int64)
        place = torch.arange(first + 1, first + 1 + len(piece), device=bits.device)
        total += torch.stack([piece.sum(), (piece * place).sum()])
    found: list[int] = total.tolist()
    return found


def fingerprint_of_batch(batch: Given, before: str) -> str:
    """The fingerprint of all batches up to this one, from the fingerprint of the earlier ones."""
    found = hashlib.sha256(before.encode())
    for name in sorted(batch):
        found.update(name.encode())
        add(found, batch[name])
    return found.hexdigest()


def add(found: hashlib._Hash, value: object) -> None:
    """Adds a value to a fingerprint: arrays with all their numbers, lists and dictionaries with their contents."""
    if is_torch(value) or isinstance(value, np.ndarray):
        array = to_numpy(value)
        found.update(f"{type(value).__name__} {array.shape} {array.dtype}".encode())
        found.update(repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes())
    elif isinstance(value, Mapping):
        found.update(f"{{{len(value)}".encode())
        for key in sorted(value, key=repr):
            found.update(repr(key).encode())
            add(found, value[key])
    elif isinstance(value, (list, tuple)):
        found.update(f"[{len(value)}".encode())
        for one in value:
            add(found, one)
    else:
        found.update(repr(value).encode())


class Progress:
    """The file that lets work resume: how many batches of what are done, and their summary."""

    def __init__(self, path: Path | None, asked: dict[str, Any]):
        self.path, self.asked = path, asked
        self.done, self.summary = 0, Summary()
        self.model = self.batches = self.expected = ""
        self.seen = 0

    def load(self, model: str) -> None:
        """Reads the file, if it exists, and refuses one from other work."""
        self.model = model
        assert self.path is not None
        if not self.path.exists():
            return
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
            asked, known = dict(read["asked"]), read["model"]
            self.done, self.expected = int(read["batches"]), str(read["data"])
            self.summary = Summary.from_json(json.dumps(read["summary"]))
        except OSError as wrong:
            raise Error(f"{self.path}: {wrong.strerror}, expected a file; give another") from None
        except (KeyError, TypeError, ValueError) as wrong:
            raise Error(f"{self.path}: is not a file of metrics_over ({wrong}); remove it, or give another") from None
        for word, value in self.asked.items():
            if asked.get(word) != value:
                raise Error(f"{self.path}: is of {word} {asked.get(word)}, expected {value}; give another file, or the "
                            f"same {word}")
        if known != model:
            raise Error(f"{self.path}: is of another model; give another file, or the same model with the same weights")

    def next(self, number: int, batch: Given) -> bool:
        """Whether to compute a batch. Raises if the finished batches were different ones."""
        if self.path is None:
            return True
        self.batches, self.seen = fingerprint_of_batch(batch, self.batches), number + 1
        if number + 1 == self.done and self.batches != self.expected:
            raise Error(f"{self.path}: is of other data, its first {self.done} batches differ; give another file, or "
                        "the same data in the same order")
        return number >= self.done

    def end(self) -> None:
        if self.path is not None and self.seen < self.done:
            raise Error(f"{self.path}: is of {self.done} batches and the data has {self.seen}; give another file, or the "
                        "same data")

    def save(self, batches: int, summary: Summary) -> None:
        """Writes the file, which is complete at every moment."""
        if self.path is None:
            return
        output = Output(str(self.path))
        write_text(output, json.dumps(dict(batches=batches, model=self.model, data=self.batches, asked=self.asked,
                                           summary=json.loads(summary.to_json()))))
        output.commit()


def shown(batches: Iterable[Given], progress: bool) -> Iterator[Given]:
    """The batches, with a progress bar on a terminal."""
    if progress and sys.stderr.isatty():
        try:
            from tqdm.auto import tqdm
            return iter(tqdm(batches, desc="metrics", unit="batch"))
        except ImportError:
            pass
    return iter(batches)
