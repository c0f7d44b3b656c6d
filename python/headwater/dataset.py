"""The eight metrics over a whole data set: item by item, with summaries that merge and work that resumes."""
from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping

from .arrays import is_torch
from .errors import Error
from .torch.recording import check_model
from .torch.metrics import item_sums

if TYPE_CHECKING:
    import torch

NUMBERS = ("mean_attention", "max_attention", "attention_entropy", "attention_concentration", "rollout_max",
           "rollout_entropy", "seq_length")


class Summary:
    """How each metric is distributed over items: count, mean, standard deviation, minimum and maximum.

    The sum `a + b` of the summaries of two parts of a data set is that of both, in any order and for any batches.
    """

    def __init__(self) -> None:
        self.count = 0
        self._sums = {name: [0.0, 0.0, math.inf, -math.inf] for name in NUMBERS}  # sum, of squares, least, largest
        self.items: list[dict[str, Any]] = []  # the numbers of each item, with keep_items

    def add(self, numbers: Mapping[str, Any], keep: bool = False) -> None:
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

    def to_pandas(self) -> Any:
        """A table with a line for each item that was kept, or else for each metric."""
        import pandas
        if self.items:
            return pandas.DataFrame(self.items)
        return pandas.DataFrame([dict(metric=name, count=self.count, **self[name]) for name in NUMBERS])

    def to_json(self) -> str:
        """JSON that `from_json` reads."""
        return json.dumps(dict(count=self.count, sums=self._sums, items=self.items))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json, which `from_json` reads."""
        if not os.fspath(path).endswith(".json"):
            raise Error(f"{os.fspath(path)}: is not .json, expected .json for a summary; use .json, or .to_pandas()")
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

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


def metrics_over(model: torch.nn.Module, dataloader: Iterable[Mapping[str, Any]], *, layer_idx: int = -1,
                 attention_layer_pattern: str | None = None, progress: bool = True, keep_items: bool = False,
                 resume: str | os.PathLike[str] | None = None, device: Any = None) -> Summary:
    """The metrics of every item of a data set. `dataloader` yields batches, dictionaries for model(**batch).

    `resume` names a file that is rewritten after each batch; a later call with the same loader resumes there.
    `keep_items` keeps the numbers of each item beside their summary. Batches are sent to `device`, by default the
    model's. Raises headwater.Error.
    """
    check_model(model)
    path = None if resume is None else Path(resume)
    done, summary = load(path, layer_idx)
    device = device if device is not None else next((p.device for p in model.parameters()), None)
    for number, batch in enumerate(shown(dataloader, progress)):
        if number < done:
            continue
        if not isinstance(batch, Mapping):
            raise Error(f"dataloader: gave a {type(batch).__name__}, expected a dictionary for model(**batch); give "
                        "a collate function that makes one")
        batch = {name: value.to(device) if is_torch(value) else value for name, value in batch.items()
                 if name not in ("labels", "label")}
        part = Summary()
        for sums in item_sums(model, batch, layer_idx, attention_layer_pattern):
            part.add(sums.numbers(), keep=keep_items)
        summary = summary + part
        save(path, number + 1, summary, layer_idx)
    return summary


def load(path: Path | None, layer: int) -> tuple[int, Summary]:
    if path is None or not path.exists():
        return 0, Summary()
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        if read["layer_idx"] != layer:
            raise Error(f"{path}: is of layer {read['layer_idx']}, expected {layer}; give another file, or the same "
                        "layer_idx")
        return int(read["batches"]), Summary.from_json(json.dumps(read["summary"]))
    except (KeyError, TypeError, json.JSONDecodeError) as wrong:
        raise Error(f"{path}: is no file of metrics_over ({wrong}); remove it, or give another") from None


def save(path: Path | None, batches: int, summary: Summary, layer: int) -> None:
    """Writes the file beside its place, then renames it, so it is always whole."""
    if path is None:
        return
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(dict(batches=batches, layer_idx=layer, summary=json.loads(summary.to_json()))),
                      encoding="utf-8")
    os.replace(beside, path)


def shown(batches: Iterable[Any], progress: bool) -> Iterator[Any]:
    """The batches, with a progress bar on a terminal."""
    if progress and sys.stderr.isatty():
        try:
            from tqdm.auto import tqdm
            return iter(tqdm(batches, desc="metrics", unit="batch"))
        except ImportError:
            pass
    return iter(batches)
