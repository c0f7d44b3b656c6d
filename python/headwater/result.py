"""What methods give: values of the kind that went in, and everything needed to tell two results apart."""
from __future__ import annotations

import os
from typing import Any, Iterator, Sequence

import numpy as np

from . import _engine
from .arrays import Kind, to_numpy


class Attribution:
    """How much of each output token comes from each input token.

    `values` is [rows, n], or [n] where one row was asked for, with a leading axis for each of: the items of a
    batch, the layers of by_layer. Items of different lengths make it a list. It is of the kind that went in
    (torch on its device, JAX, else NumPy), float32, of flow float64. The object itself is an array wherever
    one is wanted. `tokens` are the n input tokens (of a batch: a list for each item), `rows` the output tokens
    (their numbers, or ["mean"]), `by_layer` the top layers, `options` what the method was asked, `notes`
    sentences on what happened on the way.
    """

    def __init__(self, results: _engine.Results, kind: Kind, *, batch: bool = False, one_row: bool = False,
                 panel: int = 0, values: Any = None):
        self._results = results
        self._kind = kind
        self._one_row = one_row
        self._panel = panel
        self.batch = batch
        facts = [results.facts(k, panel) for k in range(len(results))]
        first = facts[0]
        self.method: str = first["method"]
        self.label: str = first["label"]
        self.source: str = first["source"]
        self.options: dict[str, Any] = first["options"] | {"layers": list(first["layers"])}
        self.by_layer: list[int] = first["by_layer"]
        self.columns: list[int] = first["columns"]
        self.tokens: Any = [fact["tokens"] for fact in facts] if batch else first["tokens"]
        self.rows: Any = [fact["rows"] for fact in facts] if batch else first["rows"]
        self.notes: list[str] = [note for fact in facts for note in fact["notes"]]
        self.values: Any = self._collect(facts) if values is None else values

    def _collect(self, facts: list[dict[str, Any]]) -> Any:
        items = []
        for k, fact in enumerate(facts):
            matrices = [_engine.matrix(self._results, k, self._panel, m) for m in range(fact["matrices"])]
            array = np.stack(matrices) if fact["by_layer"] else matrices[0]
            if self._one_row and array.shape[-2] == 1:
                array = array[..., 0, :]
            items.append(self._kind.back(array))
        return self._kind.stack(items) if self.batch else items[0]

    # -- an array wherever one is wanted

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if isinstance(self.values, list):
            raise _engine.Error(f"{self.source}: its items have different lengths, expected one array; take .item(k)")
        array = to_numpy(self.values)
        return array.astype(dtype) if dtype is not None and array.dtype != dtype else array.copy() if copy else array

    def __dlpack__(self, **words: Any) -> Any:
        return self.values.__dlpack__(**words)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()

    def numpy(self) -> np.ndarray:
        return np.asarray(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    # -- its parts

    def item(self, k: int) -> "Attribution":
        """Item k of a batch as a result of its own. It shares this one's values."""
        tokens = self.tokens if self.batch else [self.tokens]
        k = range(len(tokens))[k]
        return ItemOf(self, k) if self.batch else self

    def matrix(self, k: int = 0) -> np.ndarray:
        """Item k as [rows, n] float, the last layer's where it is by layer."""
        values = to_numpy(self.values[k]) if self.batch else to_numpy(self.values)
        if self.by_layer:
            values = values[-1]
        return values if values.ndim == 2 else values[None]

    def shown_row(self, k: int = 0) -> int:
        """The row that is shown where there is room for one: the last of causal attention, else the first."""
        values = self.matrix(k)
        square = values.shape[0] == values.shape[1] > 1
        return len(values) - 1 if square and not np.triu(values, 1).any() else 0

    def row(self, row: int | None = None) -> np.ndarray:
        """One row of `values`, [n]; without a number that of `shown_row`."""
        values = self.matrix()
        row = self.shown_row() if row is None else row
        if not -len(values) <= row < len(values):
            raise _engine.Error(f"{self.source}: has no row {row}, expected 0 to {len(values) - 1} (or -1 for the "
                                "last); choose another")
        return values[row]

    def top(self, k: int = 5, *, row: int | None = None, filter: str = "") -> list[Any]:
        """The k input tokens with the largest values, [(token, value), ...]; of a batch a list for each item.

        `row` counts the rows of `values`; without it the row of `shown_row`. `filter` leaves tokens out:
        'special', 'punctuation', 'common', '@FILE', joined by commas.
        """
        if self.batch:
            return [self.item(i).top(k, row=row, filter=filter) for i in range(len(self.tokens))]
        values = self.row(row)
        names = [self.tokens[j] for j in self.columns] if self.columns else self.tokens
        shown = np.array(_engine.kept(filter, names)) if filter else np.ones(len(names), bool)
        order = [j for j in np.argsort(-values, kind="stable") if shown[j]]
        return [(names[j], float(values[j])) for j in order[:k]]

    # -- out of Python

    def to_json(self, *, filter: str = "", renormalise: bool = False) -> str:
        """The result as JSON, with the same names as `headwater ... -o x.json`; of a batch a list."""
        return self._results.json(filter=filter, renormalise=renormalise, list=self.batch)

    def save(self, path: str | os.PathLike[str], *, filter: str = "", renormalise: bool = False) -> None:
        """Writes .json .npy .npz .png .svg or .pdf, by the ending. A batch of pictures is numbered."""
        self._results.save(os.fspath(path), filter=filter, renormalise=renormalise, list=self.batch)

    def plot(self, *, item: int = 0, title: str | None = None, ax: Any = None) -> Any:
        """A matplotlib figure of the values: input tokens along x, output tokens along y."""
        from .plot import heatmap
        return heatmap(self.item(item) if self.batch else self, title=title, ax=ax)

    def to_pandas(self) -> Any:
        """A table with a line for each value: item, layer, row, output, column, input, value."""
        from .convert import to_pandas
        return to_pandas(self)

    def _repr_html_(self) -> str:
        from .html import page
        return page(self)

    def __repr__(self) -> str:
        shape = "several lengths" if isinstance(self.values, list) else "x".join(map(str, self.shape))
        return f"<headwater.Attribution {self.method} of {self.source}: {shape}, {self._kind.name}>"


class ItemOf(Attribution):
    """One item of a batch."""

    def __init__(self, whole: Attribution, k: int):
        self.__dict__.update(whole.__dict__)
        self._k = k
        self.batch = False
        self.tokens, self.rows, self.values = whole.tokens[k], whole.rows[k], whole.values[k]

    def _alone(self) -> _engine.Results:
        return rebuilt(self, item=self._k)

    def to_json(self, *, filter: str = "", renormalise: bool = False) -> str:
        return self._alone().json(filter=filter, renormalise=renormalise)

    def save(self, path: str | os.PathLike[str], *, filter: str = "", renormalise: bool = False) -> None:
        self._alone().save(os.fspath(path), filter=filter, renormalise=renormalise)


def rebuilt(result: Attribution, *, item: int = 0) -> _engine.Results:
    """The engine's record of a result, made of what Python holds."""
    from .arguments import make_options
    words = {word: value for word, value in result.options.items()}
    layers = words.pop("layers")
    mean = list(result.rows) == ["mean"]
    options = make_options(**words, layers=layers, row="mean" if mean else None)
    array = to_numpy(result.values).astype(np.float64)
    stack = array.reshape(len(result.by_layer) or 1, -1, array.shape[-1])
    out = _engine.Results()
    out.add(result.method, options, np.ascontiguousarray(stack), result.tokens, [] if mean else result.rows,
            result.by_layer, [1] * layers[1], result.notes, result.source, item=item, items=item + 1,
            label=result.label)
    return out


class Comparison:
    """Results of one input side by side: `panels` (each with a `label`), and how far they agree.

    `agreement` is [P, P]: Spearman's rank correlation between two panels, the mean over their rows.
    """

    def __init__(self, results: _engine.Results, kind: Kind, by: str, *, one_row: bool = False):
        self._results = results
        self.by = by
        self.panels: Sequence[Attribution] = [Attribution(results, kind, one_row=one_row, panel=panel)
                                              for panel in range(results.panels(0))]
        self.agreement: np.ndarray = _engine.agreement(results, 0)

    def to_json(self, *, filter: str = "") -> str:
        return self._results.json(filter=filter)

    def save(self, path: str | os.PathLike[str], *, filter: str = "") -> None:
        self._results.save(os.fspath(path), filter=filter)

    def plot(self) -> Any:
        """A matplotlib figure with a panel each, on one scale."""
        from .plot import panels
        return panels(self.panels, title=f"by {self.by}")

    def top(self, k: int = 5, *, row: int | None = None, filter: str = "") -> dict[str, list[Any]]:
        """The k largest of each panel, by its label."""
        return {panel.label: panel.top(k, row=row, filter=filter) for panel in self.panels}

    def to_pandas(self) -> Any:
        """The tables of all panels, with a column `panel` before."""
        from .convert import to_pandas
        return to_pandas(self)

    def _repr_html_(self) -> str:
        from html import escape

        from .html import page
        return "".join(f"<h4>{escape(panel.label)}</h4>{page(panel)}" for panel in self.panels)

    def __len__(self) -> int:
        return len(self.panels)

    def __iter__(self) -> Iterator[Attribution]:
        return iter(self.panels)

    def __getitem__(self, k: int) -> Attribution:
        return self.panels[k]

    def __repr__(self) -> str:
        return f"<headwater.Comparison by {self.by}: {', '.join(panel.label for panel in self.panels)}>"


class Metrics(dict):
    """The eight numbers, as a dictionary; `.options`, `.notes`, `.save(path)` and `.to_json()` beside."""

    def __init__(self, numbers: dict[str, Any], options: dict[str, Any] | None = None,
                 notes: list[str] | None = None, results: _engine.Results | None = None):
        super().__init__(numbers)
        self.options = options or {}
        self.notes = notes or []
        self._results = results

    def _repr_html_(self) -> str:
        from .html import numbers
        return numbers("metrics", self)

    def to_json(self) -> str:
        if self._results is not None:
            return self._results.json()
        import json
        return json.dumps({"headwater": _engine.__version__, "method": "metrics", "options": self.options,
                           "metrics": dict(self), "notes": self.notes})

    def save(self, path: str | os.PathLike[str]) -> None:
        if self._results is not None:
            return self._results.save(os.fspath(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json() + "\n")
