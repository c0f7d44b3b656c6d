"""Questions about a data set: which tokens, positions and parts get most, for which label, and what has changed."""
from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, Hashable, Mapping, Sequence

import numpy as np

from ..errors import Error
from .blocks import settings_of
from .moments import Z, Moments, add_tables, add_values
from .read import paths_of, read_blocks
from .table import pyarrow

KINDS = ("token", "position", "text", "part")
MEASURES = ("sum", "largest", "entropy", "half")  # of a text


class DataSummary:
    """What `headwater.summarise` returns: means with their 95 % intervals, over all texts and by group.

    `rows(kind)` lists them: of each 'token', of each 'position', of each 'part' (a span of the input), and of each
    'text': the sum of its values, the share of its largest, the entropy of its shares (natural logarithm), and how many
    tokens have half of all. Shares are of the values without their signs. `a + b` is the summary of both data sets, the
    same numbers in any order. `texts` and `failed` count rows.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, by: str | None = None, parts: str | None = None):
        self.settings, self.by, self.parts = dict(settings or {}), by, parts
        self.texts = self.failed = 0
        self._tables: dict[str, dict[Any, Moments]] = {kind: {} for kind in KINDS}  # by group and key

    # -- what is added

    def add(self, table: Any) -> None:
        """Adds the rows of a block."""
        errors = table["error"].is_null().to_numpy(zero_copy_only=False) if len(table) else np.zeros(0, bool)
        self.failed += int((~errors).sum())
        table = table.filter(pyarrow().array(errors))
        self.texts += len(table)
        if not len(table):
            return
        lists = table["values"].combine_chunks()
        lengths = np.diff(lists.offsets.to_numpy()) if hasattr(lists, "offsets") else np.zeros(0, np.int64)
        values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
        rows = np.repeat(np.arange(len(table)), lengths)
        groups = [None] * len(table) if self.by is None else [as_text(value) for value in table[self.by].to_pylist()]
        tokens = table["tokens"].combine_chunks().flatten().to_pylist()
        if "positions" in table.column_names:
            positions = table["positions"].combine_chunks().flatten().to_pylist()
        else:
            positions = (np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).tolist()
        self._put("token", [(groups[row], token) for row, token in zip(rows, tokens)], values)
        self._put("position", [(groups[row], place) for row, place in zip(rows, positions)], values)
        self._put_texts(values, lengths, groups)
        if self.parts is not None:
            self._put_parts(table, values, rows, groups)

    def _put(self, kind: str, keys: Sequence[Hashable], values: Any) -> None:
        known: dict[Hashable, int] = {}
        places = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(keys))
        add_values(self._tables[kind], list(known), places, np.asarray(values, np.float64))

    def _put_texts(self, values: Any, lengths: Any, groups: Sequence[Any]) -> None:
        measures: dict[str, list[float]] = {name: [] for name in MEASURES}
        for one in np.split(values, np.cumsum(lengths)[:-1]):
            size = np.sort(np.abs(one))[::-1]
            total = math.fsum(size)
            shares = size / total if total > 0 else size
            measures["sum"].append(math.fsum(one))
            measures["largest"].append(float(shares[0]) if len(shares) else 0.0)
            measures["entropy"].append(-math.fsum(s * math.log(s) for s in shares if s > 0))
            measures["half"].append(float(np.searchsorted(np.cumsum(shares), 0.5) + 1) if total > 0 else 0.0)
        for name, numbers in measures.items():
            self._put("text", [(group, name) for group in groups], numbers)

    def _put_parts(self, table: Any, values: Any, rows: Any, groups: Sequence[Any]) -> None:
        spans = [spans_of(value) for value in table[self.parts].to_pylist()]
        starts, ends = (np.asarray(table[name].combine_chunks().flatten()) for name in ("starts", "ends"))
        found: dict[tuple[int, str], float] = {}
        totals = np.bincount(rows, np.abs(values), len(table))
        for row, start, end, value in zip(rows.tolist(), starts.tolist(), ends.tolist(), np.abs(values).tolist()):
            name = next((name for name, (begin, stop) in spans[row].items() if begin <= start < stop and end > start),
                        "(none)")
            found[row, name] = found.get((row, name), 0.0) + value
        keys = [(groups[row], name) for row in range(len(table)) for name in {**spans[row], "(none)": None}]
        shares = [found.get((row, name), 0.0) / totals[row] if totals[row] > 0 else 0.0
                  for row in range(len(table)) for name in {**spans[row], "(none)": None}]
        self._put("part", keys, shares)

    # -- what is asked

    def rows(self, kind: str, *, least: int = 1) -> list[dict[str, Any]]:
        """The means of a kind, largest first (positions in order): group, key, count, mean, low and high of its interval.

        `least` leaves out keys with fewer values.
        """
        if kind not in KINDS:
            raise Error(f"unknown kind '{kind}'; there are {', '.join(KINDS)}")
        out = []
        for (group, key), moments in self._tables[kind].items():
            low, high = moments.interval
            if moments.count >= least:
                out.append(dict(group=group, key=key, count=moments.count, mean=moments.mean, low=low, high=high))
        return sorted(out, key=lambda row: (str(row["group"]), row["key"] if kind == "position" else -row["mean"],
                                            str(row["key"])))

    def drift(self, other: DataSummary, kind: str = "token", *, least: int = 1) -> list[dict[str, Any]]:
        """How the means of `other`, a later run, differ from these: difference, its interval, and how many standard
        errors it is; the surest first."""
        out = []
        for key in self._tables[kind].keys() & other._tables[kind].keys():
            a, b = self._tables[kind][key], other._tables[kind][key]
            if min(a.count, b.count) < max(least, 2):
                continue
            difference, error = b.mean - a.mean, math.hypot(a.error, b.error)
            out.append(dict(group=key[0], key=key[1], count=a.count, count_other=b.count, mean=a.mean,
                            mean_other=b.mean, difference=difference, low=difference - Z * error,
                            high=difference + Z * error,
                            errors=difference / error if error > 0 else math.copysign(math.inf, difference)
                            if difference else 0.0))
        return sorted(out, key=lambda row: (-abs(row["errors"]), str(row["group"]), str(row["key"])))

    def __add__(self, other: DataSummary) -> DataSummary:
        if not isinstance(other, DataSummary):
            return NotImplemented
        for word in ("by", "parts"):
            if getattr(self, word) != getattr(other, word):
                raise Error(f"summaries: one is by {getattr(self, word)}, the other by {getattr(other, word)}, expected "
                            "the same; make them in the same way")
        if self.texts + self.failed and other.texts + other.failed and self.settings != other.settings:
            raise Error("summaries: are of other models, methods or options, expected the same; drift() compares such")
        out = DataSummary(self.settings or other.settings, self.by, self.parts)
        out.texts, out.failed = self.texts + other.texts, self.failed + other.failed
        for kind in KINDS:
            for part in (self, other):
                add_tables(out._tables[kind], part._tables[kind])
        return out

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers."""
        return isinstance(other, DataSummary) and json.loads(self.to_json()) == json.loads(other.to_json())

    __hash__ = None  # type: ignore[assignment]

    # -- out of Python

    def to_json(self) -> str:
        """JSON that `headwater.summarise` and `headwater summarise` read."""
        tables = {kind: sorted(([*key, *moments] for key, moments in table.items()),
                               key=lambda row: (str(row[0]), str(row[1]))) for kind, table in self._tables.items()}
        return json.dumps(dict(headwater_summary=1, settings=self.settings, by=self.by, parts=self.parts,
                               texts=self.texts, failed=self.failed, **tables), ensure_ascii=False)

    @staticmethod
    def from_json(text: str, name: str = "summary") -> DataSummary:
        """The summary that `to_json` wrote."""
        try:
            read = json.loads(text)
            out = DataSummary(read["settings"], read["by"], read["parts"])
            out.texts, out.failed = int(read["texts"]), int(read["failed"])
            for kind in KINDS:
                out._tables[kind] = {(group, key): Moments(int(count), int(total), int(squares))
                                     for group, key, count, total, squares in read[kind]}
        except (KeyError, TypeError, ValueError) as wrong:
            raise Error(f"{name}: is no summary of headwater ({wrong}); give a folder, or a .json of summarise") from None
        return out

    def to_arrow(self) -> Any:
        """All means as a pyarrow table: kind, group, key, count, mean, low, high."""
        rows = [dict(kind=kind, **row, ) | dict(key=str(row["key"])) for kind in KINDS for row in self.rows(kind)]
        arrow = pyarrow()
        fields = dict(kind=arrow.string(), group=arrow.string(), key=arrow.string(), count=arrow.int64(),
                      mean=arrow.float64(), low=arrow.float64(), high=arrow.float64())
        return arrow.Table.from_pylist(rows, arrow.schema(fields))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json, which can be merged with others, or .parquet, by the ending."""
        from ..saved import Output, write_text, write_whole

        def parquet(output: Output) -> None:
            import pyarrow.parquet
            pyarrow.parquet.write_table(self.to_arrow(), output)
        write_whole(os.fspath(path), {".json": lambda output: write_text(output, self.to_json()), ".parquet": parquet})

    def __repr__(self) -> str:
        return f"<headwater.DataSummary of {self.texts} texts, {self.failed} failed>"


def as_text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value, default=str)


def spans_of(value: Any) -> dict[str, tuple[int, int]]:
    """{"question": [0, 20], ...} as JSON or as a record: the bytes of each part of a text."""
    read = json.loads(value) if isinstance(value, str) else value
    if read is None:
        return {}
    if not isinstance(read, dict) or not all(span is None or len(span) == 2 for span in read.values()):
        raise Error(f"parts {str(value)[:60]}: expected an object of spans, as {{\"question\": [0, 20]}}; correct the column")
    return {str(name): (int(span[0]), int(span[1])) for name, span in read.items() if span is not None}


def summarise(results: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, by: str | None = None,
              parts: str | None = None, partial: bool = False) -> DataSummary:
    """Which tokens, positions and parts of texts get most, over a folder that `headwater attribute` wrote.

    `results` is such a folder, a summary saved as .json, or several of them, which are merged. `by` is a kept column:
    everything is then counted for each of its values. `parts` is a kept column of spans, in bytes of the text, as
    {"question": [0, 20], "context": [21, 300]}: the share of each part is counted, too. `partial=True` takes folders
    whose blocks are not all there. Reads a block at a time. Raises headwater.Error.
    """
    given = [results] if isinstance(results, (str, os.PathLike)) else list(results)
    if not given:
        raise Error("summarise: nothing was given, expected a folder of `headwater attribute`; give one")
    found = [_one(os.fspath(one), by, parts, partial) for one in given]
    total = found[0]
    for other in found[1:]:
        total = total + other
    return total


def _one(path: str, by: str | None, parts: str | None, partial: bool) -> DataSummary:
    if path.endswith(".json"):
        try:
            return DataSummary.from_json(Path(path).read_text(encoding="utf-8"), path)
        except OSError as error:
            raise Error(f"{path}: cannot be read, {error.strerror}; check the name") from None
    settings = settings_of(paths_of(path, partial)[0])
    for word, column in (("by", by), ("parts", parts)):
        if column is not None and column not in ["id", *settings["keep"]]:
            raise Error(f"`{word}` {column}: is not in {path}, which keeps {', '.join(settings['keep']) or 'no columns'}; "
                        f"run `headwater attribute` with --keep {column}")
    columns = ["tokens", "values", "error", *(["positions"] if settings["top"] else []),
               *([by] if by else []), *([parts, "starts", "ends"] if parts else [])]
    out = DataSummary(settings, by, parts)
    for table in read_blocks(path, columns=list(dict.fromkeys(columns)), partial=partial):
        out.add(table)
    return out
