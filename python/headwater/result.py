"""What the methods return: values of the kind that went in, and everything needed to tell two results apart."""
from __future__ import annotations

import json
import os
from typing import Any, Iterator, Sequence

import numpy as np

from . import _engine
from .arguments import offset_pairs
from .arithmetic import Arithmetic
from .arrays import Array, Kind, NumPyArray, same_values, to_numpy
from .errors import Error
from .image import ImageAttribution, ImageTokens, image_of
from .kinds import AnyPath, Axes, DataFrame, DType, Figure, Grid, Offsets, Row
from .printed import Printed
from .rows import rows_within
from .top import largest
from .values import plain_row, whole


class Attribution(Printed, Arithmetic):
    """How much of each output token comes from each input token.

    `values` is [rows, n], or [n] where one row was asked for, with a leading axis for the items of a batch and for the
    layers of by_layer. If the items differ in length it is a list. It is of the kind that went in (torch on its
    device, JAX, else NumPy), float32, for flow float64. The object itself can be used as an array. `tokens` are the n
    input tokens (for a batch, a list for each item), `rows` the numbers of the output tokens (or ["mean"]),
    `by_layer` the top layers (-1 is the input itself, of relevance), `columns` the input tokens where not all were asked
    for, `cut` (of flow, if asked for) the weights that limit it as (layer, output token, input token, weight), `options`
    what the method was asked, and `notes` what happened on the way. Of relevance, whose values have signs, `relevance`
    says the target and what its output sums from, and `heads` and `edges` are arrays where they were asked for, else
    None (for a batch, each is a list with an entry for each item). Results can be pickled, copied and compared with ==.
    """

    def __init__(self, results: _engine.Results, kind: Kind, *, batch: bool = False, one_row: bool = False,
                 panel: int = 0, values: Array = None, images: Sequence[list[ImageTokens]] = (),
                 notes: Sequence[str] = ()):
        self._results, self._panel = results, panel
        self._kind = kind
        self._one_row = one_row
        self._k: int | None = None  # which item of the record, where this is one of a batch
        self.batch = batch
        facts = [results.facts(k, panel) for k in range(len(results))]
        first = facts[0]
        self.method: str = first["method"]
        self.label: str = first["label"]
        self.source: str = first["source"]
        self.options: dict[str, Any] = first["options"]
        self.by_layer: list[int] = first["by_layer"]
        self.columns: list[int] = first["columns"]
        self.cut: list[tuple[int, int, int, float]] | None = first["cut"]
        self.tokens: list[Any] = [fact["tokens"] for fact in facts] if batch else first["tokens"]
        self.rows: list[Any] = [fact["rows"] for fact in facts] if batch else first["rows"]
        self.relevance: Any = [known(fact["relevance"]) for fact in facts] if batch else known(first["relevance"])
        self.heads: Array = self._extra("heads", len(facts))
        self.edges: Array = self._extra("edges", len(facts))
        self._images = list(images)  # of each item
        self._told = list(notes)  # notes that the engine does not have
        self.notes: list[str] = list(dict.fromkeys([*(note for fact in facts for note in fact["notes"]), *notes]))
        self.values: Array = self._collect(facts) if values is None else values

    def _extra(self, name: str, count: int) -> Array:
        if (self.relevance[0] if self.batch else self.relevance) is None:
            return None
        found = [self._results.extra(k, name) for k in range(count)]
        if found[0].size == 0:
            return None
        arrays = [self._kind.back(array) for array in found]
        return arrays if self.batch else arrays[0]

    @property
    def has_signs(self) -> bool:
        """Whether values are signed: positive for the target, negative against it."""
        return self.method == "relevance"

    def _collect(self, facts: list[dict[str, Any]]) -> Array:
        items = []
        for k, fact in enumerate(facts):
            matrices = [self._results.matrix(k, self._panel, m) for m in range(fact["matrices"])]
            array = np.stack(matrices) if fact["by_layer"] else matrices[0]
            if self._one_row and array.shape[-2] == 1:
                array = array[..., 0, :]
            items.append(self._kind.back(array))
        return self._kind.stack(items) if self.batch else items[0]

    # -- an array wherever one is wanted

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> NumPyArray:
        array = to_numpy(self._one_array())
        return array.astype(dtype) if dtype is not None and array.dtype != dtype else array.copy() if copy else array

    def __dlpack__(self, **words: Any) -> Any:
        return self._one_array().__dlpack__(**words)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._one_array().__dlpack_device__()
        return device

    def numpy(self) -> NumPyArray:
        """The values as a NumPy array on the CPU."""
        return np.asarray(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return tuple(self._one_array().shape)

    @property
    def ndim(self) -> int:
        """The number of axes of the values."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The type of the values, as their library names it."""
        return self._one_array().dtype

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Array]:
        return iter(self.values)

    def __getitem__(self, index: Any) -> Array:
        return self.values[index]

    # -- equality

    def _identity(self) -> tuple[Any, ...]:
        return (self.method, self.label, self.source, self.options, self.by_layer, self.columns, self.tokens, self.rows,
                self.relevance, self.notes, self.batch)

    def __eq__(self, other: object) -> bool:
        """Whether everything is the same: values, tokens, rows, options, notes, method and source."""
        if not isinstance(other, Attribution):
            return NotImplemented
        return self._identity() == other._identity() and same_values(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]  # values may be changed in place

    # -- its parts

    def item(self, k: int) -> Attribution:
        """Item k of a batch as a result of its own. It shares its values with this one."""
        count = len(self.tokens) if self.batch else 1
        if not -count <= k < count:
            raise Error(f"{self.source}: has no item {k}, expected 0 to {count - 1} (or -1 for the last); choose another")
        if not self.batch:
            return self
        k %= count
        one = object.__new__(type(self))
        one.__dict__.update(self.__dict__)
        one._k, one.batch, one.notes = k, False, [*self._results.facts(k)["notes"], *self._told]
        one.tokens, one.rows, one.values = self.tokens[k], self.rows[k], self.values[k]
        one.relevance, one.heads, one.edges = (None if part is None else part[k]
                                               for part in (self.relevance, self.heads, self.edges))
        return one

    def matrix(self, k: int = 0) -> NumPyArray:
        """Item k as [rows, n]: of a result by layer, the last layer, or the input for relevance."""
        values = to_numpy(self.values[k]) if self.batch else to_numpy(self.values)
        if self.by_layer:
            values = values[0 if self.by_layer[0] < 0 else -1]
        return values if values.ndim == 2 else values[None]

    def shown_row(self, k: int = 0) -> int:
        """The row that is shown if there is room for only one, chosen as the command does.

        It is the last row of causal attention, the target's row of a gradient, and else the first.
        """
        return self._record().row_to_show(k if self._k is None else self._k, self._panel)

    def row(self, row: Row | None = None) -> NumPyArray:
        """One row of `values`, [n]; several of a list, [rows, n].

        A row is its number in `values`, 'cls', 'last', or a word of the text ('keys#2'); by default that of `shown_row`.
        """
        if self.batch:
            raise Error(f"{self.source}: holds a batch, expected one item; take .item(k) first")
        values, row = self.matrix(), plain_row(row)
        wanted = [self.shown_row()] if row is None else \
            [whole("row", one) for one in rows_within(row, self.rows, self.tokens, self.source)]
        for one in wanted:
            if not -len(values) <= one < len(values):
                raise Error(f"{self.source}: has no row {one}, expected 0 to {len(values) - 1} (or -1 for the last); "
                            "choose another")
        alone = len(wanted) == 1 and not isinstance(row, (list, tuple, range))
        found: NumPyArray = values[wanted[0] if alone else wanted]
        return found

    def image(self, k: int = 0, *, row: int | str | None = None, grid: Grid | None = None) -> ImageAttribution:
        """Image k of a vision-language model: the values of its patches in one row, as rows x columns of the image.

        `row` counts the rows of `values` (by default that of `shown_row`). `grid` is (rows, columns) where it is not known.
        """
        if self.batch:
            raise Error(f"{self.source}: holds a batch, expected one item; take .item(k) first")
        shown = self.shown_row() if row is None else rows_within(row, self.rows, self.tokens, self.source)[0]
        output = "the mean" if list(self.rows) == ["mean"] else self.tokens[self.rows[shown]]
        places = self._images[self._k or 0] if self._images else []
        target = self.relevance["target"]["name"] if self.relevance is not None else None
        return image_of(self.row(shown), places, k, output, self.method,
                        None if target is None else _engine.labels([target])[0], grid)

    @property
    def images(self) -> list[Any]:
        """The images of a vision-language model: their grids and positions; of a batch, a list for each item."""
        return self._images if self.batch else self._images[self._k or 0] if self._images else []

    def top(self, k: int = 5, *, row: int | str | None = None, filter: str = "") -> list[Any]:
        """The k input tokens with the largest values, [(token, value), ...]; of a batch, a list for each item.

        `row` is one that `.row()` takes; without it, the row of `shown_row`. `filter` leaves tokens out: 'special',
        'punctuation', 'common', '@FILE', separated by commas.
        """
        if self.batch:
            return [self.item(i).top(k, row=row, filter=filter) for i in range(len(self.tokens))]
        names = [self.tokens[j] for j in self.columns] if self.columns else self.tokens
        values = self.row(row)
        if values.ndim > 1:
            raise Error(f"`row` {row}: is several rows, expected one; ask for them one by one")
        return largest(values, names, whole("k", k), filter)

    def words(self, offsets: Offsets | None = None) -> Attribution:
        """The result by words: columns of a word's pieces are added, its rows averaged.

        `offsets` are the tokenizer's offset_mapping without padding: pieces without a gap between them are one word.
        Without them, the marks of the pieces ('##', the space marks of BPE and SentencePiece) say where words begin.
        """
        if self.batch:
            raise Error(f"{self.source}: holds a batch, expected one item; take .item(k) first")
        results = self._record().words(self._k or 0, self._panel, offset_pairs(offsets))
        places = [place.moved(results.facts(0)["pieces"]) for place in self.images]
        return Attribution(results, self._kind, one_row=self.ndim < 2 + bool(self.by_layer), images=[places])

    # -- out of Python

    def _record(self) -> _engine.Results:
        """The engine's record of this result."""
        return self._results

    def to_json(self, *, filter: str = "", renormalise: bool = False) -> str:
        """The JSON that `headwater ... -o x.json` writes; of a batch, a list."""
        return self._record().json(item=self._k, filter=filter, renormalise=renormalise, list=self.batch)

    def save(self, path: AnyPath, *, filter: str = "", renormalise: bool = False) -> None:
        """Writes .json .npy .npz .png .svg .pdf or .html, by the ending. The pictures of a batch are numbered."""
        self._record().save(os.fspath(path), item=self._k, filter=filter, renormalise=renormalise, list=self.batch)

    def plot(self, *, item: int = 0, title: str | None = None, ax: Axes | None = None) -> Figure:
        """A matplotlib figure of the values: input tokens along x, output tokens along y."""
        from .plot import heatmap
        return heatmap(self.item(item) if self.batch else self, title=title, ax=ax)

    def to_pandas(self) -> DataFrame:
        """A table with a line for each value: item, layer, row, output, column, input, value."""
        from .convert import to_pandas
        return to_pandas(self)

    def _page(self, *, only_data: bool = False) -> str:
        return self._record().page(item=self._k, only_data=only_data)

    def _spans(self) -> str:
        from .html import page
        return page(self)

    def _repr_html_(self) -> str:
        from .framing import displayed
        each = self.values if isinstance(self.values, list) else [self.values]
        maps = sum(fact["embedded"] for fact in map(self._record().facts, range(len(self._record()))))
        return displayed(self, maps + sum(int(np.prod(value.shape)) for value in each))

    def __repr__(self) -> str:
        shape = "several lengths" if isinstance(self.values, list) else "x".join(map(str, self.shape))
        return f"<headwater.Attribution {self.method} of {self.source}: {shape}, {self._kind.name}>"


def known(relevance: Any) -> Any:
    """The record of relevance; if the target is a function, it has neither id nor row."""
    if relevance is None:
        return None
    target = {word: value for word, value in relevance["target"].items() if word not in ("id", "row") or value >= 0}
    return {**relevance, "target": target}


class Comparison(Printed):
    """Results of one input side by side: `panels` (each with a `label`), and how well they agree.

    `agreement` is [P, P]: Spearman's rank correlation between two panels, averaged over their rows.
    """

    def __init__(self, results: _engine.Results, kind: Kind, by: str, *, one_row: bool = False):
        self._results = results
        self._kind = kind
        self._one_row = one_row
        self.by = by
        self.panels: Sequence[Attribution] = [Attribution(results, kind, one_row=one_row, panel=panel)
                                              for panel in range(results.panels(0))]
        self.notes: list[str] = list(dict.fromkeys(note for panel in self.panels for note in panel.notes))
        self.agreement: NumPyArray = results.agreement(0)

    def to_json(self, *, filter: str = "") -> str:
        """The JSON that `headwater compare ... -o x.json` writes."""
        return self._results.json(filter=filter)

    def save(self, path: AnyPath, *, filter: str = "") -> None:
        """Writes .json .npy .npz .png .svg .pdf or .html, by the ending."""
        self._results.save(os.fspath(path), filter=filter)

    def plot(self) -> Figure:
        """A matplotlib figure with all panels on one scale."""
        from .plot import panels
        return panels(self.panels, title=f"by {self.by}")

    def top(self, k: int = 5, *, row: int | str | None = None, filter: str = "") -> dict[str, list[Any]]:
        """The k largest values of each panel, by its label."""
        return {panel.label: panel.top(k, row=row, filter=filter) for panel in self.panels}

    def words(self, offsets: Offsets | None = None) -> Comparison:
        """All panels by words, as `Attribution.words` has them, and their agreement by words.

        Raises headwater.Error for a comparison by method: the flows to the pieces of a word do not add up.
        """
        return Comparison(self._results.words(0, offsets=offset_pairs(offsets)), self._kind, self.by,
                          one_row=self._one_row)

    def to_pandas(self) -> DataFrame:
        """The tables of all panels, with a first column `panel`."""
        from .convert import to_pandas
        return to_pandas(self)

    def _page(self, *, only_data: bool = False) -> str:
        return self._results.page(only_data=only_data)

    def _spans(self) -> str:
        from html import escape

        from .html import page
        return "".join(f"<h4>{escape(panel.label)}</h4>{page(panel)}" for panel in self.panels)

    def _repr_html_(self) -> str:
        from .framing import displayed
        return displayed(self, sum(int(np.prod(panel.shape)) for panel in self.panels))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same panels."""
        if not isinstance(other, Comparison):
            return NotImplemented
        return self.by == other.by and list(self.panels) == list(other.panels)

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self.panels)

    def __iter__(self) -> Iterator[Attribution]:
        return iter(self.panels)

    def __getitem__(self, k: int) -> Attribution:
        return self.panels[k]

    def __repr__(self) -> str:
        more = f" and {len(self) - 8} more" if len(self) > 8 else ""
        return f"<headwater.Comparison by {self.by}: {', '.join(panel.label for panel in self.panels[:8])}{more}>"


class Metrics(dict[str, Any]):
    """The eight numbers as a dictionary, with `.options`, `.notes`, `.save(path)` and `.to_json()`."""

    def __init__(self, results: _engine.Results):
        found = results.metrics(0)
        super().__init__(found["metrics"])
        self.options: dict[str, Any] = found["options"]
        self.notes: list[str] = found["notes"]
        self._results = results

    @property
    def predictions(self) -> list[dict[str, Any]]:
        """What the model said of each item, if one with a head was run: what, name, probability and runner-up."""
        found = json.loads(self._results.json())
        one = found.get("prediction")
        return list(found.get("predictions", [one] if one else []))

    def __reduce__(self) -> tuple[Any, ...]:
        return Metrics, (self._results,)

    def _repr_html_(self) -> str:
        from .html import numbers
        return numbers("metrics", self)

    def to_json(self) -> str:
        """The numbers, options and notes as JSON."""
        return self._results.json()

    def save(self, path: AnyPath) -> None:
        """Writes .json .npz or .html, by the ending."""
        self._results.save(os.fspath(path))
