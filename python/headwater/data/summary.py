"""Questions about a data set: which tokens, positions and parts matter most, for which label, and what has changed."""
from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, Hashable, Mapping, Sequence, TypedDict

import numpy as np
import numpy.typing as npt

from ..errors import Error
from ..kinds import AnyPath, Table
from .moments import Floats, Moments, Places, add_tables, add_values
from .settings import OF_OUTPUTS
from .table import pyarrow
from .words import counted

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

KINDS = ("token", "position", "text", "part")
MEASURES = ("sum", "largest", "half", "entropy")  # of a text
OF_WHOLE_TEXTS = ("text", "part")  # kinds that need all values of a text
FORMAT = 2  # of the JSON: what its numbers are
NO_MATTER = ("rows", "block", "column", "id", "keep")  # settings that change no value


class Mean(TypedDict):
    """The mean of a token, a position, a part, or a measure of whole texts, with its 95 % interval."""

    group: str | None
    key: str | int
    count: int
    mean: float
    low: float
    high: float


class Drift(Mean):
    """How such a mean differs from that of a later run; the interval is the difference's."""

    count_other: int
    mean_other: float
    difference: float
    errors: float


class DataSummary:
    """What `headwater.summarise` returns: means with their 95 % intervals, over all texts and by group.

    `rows(kind)` lists them: of each 'token', of each 'position', of each 'part' (a span of the input), and of each
    'text': the sum of its values, the share of its largest, the entropy of its shares (natural logarithm), and how many
    tokens have half of all. Shares are of the values without their signs. `a + b` is the summary of both data sets, the
    same numbers in any order. `texts` and `failed` count rows, `targets` the texts of each target. `notes` says what the
    numbers do not: read it first.

    Of texts that were cut to their top K, only the kept values are known. Means of tokens and positions are then those
    of values that were among the top K, and kinds 'text' and 'part', which need all values, are refused.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, by: str | None = None, parts: str | None = None):
        self.settings = {word: value for word, value in (settings or {}).items() if word not in NO_MATTER}
        self.by, self.parts = by, parts
        self.texts = self.failed = 0
        self.cut = 0  # texts of which some values were left out
        self.targets: dict[str, int] = {}
        self._tables: dict[str, dict[Any, Moments]] = {kind: {} for kind in KINDS}  # by group and key

    # -- adding rows

    def add(self, table: Table) -> None:
        """Adds the rows of a block."""
        errors = table["error"].is_null().to_numpy(zero_copy_only=False) if len(table) else np.zeros(0, bool)
        self.failed += int((~errors).sum())
        table = table.filter(pyarrow().array(errors))
        self.texts += len(table)
        if not len(table):
            return
        if self.settings.get("method") in OF_OUTPUTS:
            for target in table["target"].to_pylist():
                self.targets[str(target)] = self.targets.get(str(target), 0) + 1
        lists = table["values"].combine_chunks()
        lengths = np.diff(lists.offsets.to_numpy()) if hasattr(lists, "offsets") else np.zeros(0, np.int64)
        values = np.asarray(lists.flatten().to_numpy(zero_copy_only=False), np.float64)
        rows = np.repeat(np.arange(len(table)), lengths)
        groups: list[str | None] = [None] * len(table) if self.by is None else texts_of(table[self.by])
        tokens = table["tokens"].combine_chunks().flatten().to_pylist()
        if "positions" in table.column_names:
            positions = table["positions"].combine_chunks().flatten().to_pylist()
            self.cut += int((lengths < table["length"].to_numpy()).sum())
        else:
            positions = (np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).tolist()
        self._put("token", [(groups[row], token) for row, token in zip(rows, tokens)], values)
        self._put("position", [(groups[row], place) for row, place in zip(rows, positions)], values)
        self._put_texts(values, lengths, groups)
        if self.parts is not None:
            self._put_parts(table, values, rows, groups)

    def _put(self, kind: str, keys: Sequence[Hashable], values: npt.ArrayLike) -> None:
        known: dict[Hashable, int] = {}
        places = np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(keys))
        add_values(self._tables[kind], list(known), places, np.asarray(values, np.float64))

    def _put_texts(self, values: Floats, lengths: Places, groups: Sequence[str | None]) -> None:
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

    def _put_parts(self, table: Table, values: Floats, rows: Places, groups: Sequence[str | None]) -> None:
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

    # -- questions

    @property
    def notes(self) -> list[str]:
        """What the numbers alone do not show."""
        found = []
        if self.cut:
            found.append(f"{counted(self.cut, 'text')} of {self.texts:,} {'is' if self.cut == 1 else 'are'} cut to the "
                         f"top {self.settings.get('top')} values: counts and means are of the values that were kept, not "
                         "of all occurrences; sums, concentration and parts are not known, so they are left out (run "
                         "`headwater attribute` without `top` for them)")
        if len(self.targets) > 1 and self.by != "target":
            most = sorted(self.targets, key=lambda name: (-self.targets[name], name))
            named = ", ".join(f"{name} in {self.targets[name]:,}" for name in most[:4])
            more = f" and {len(most) - 4:,} more" if len(most) > 4 else ""
            found.append(f"the texts have different targets ({named}{more}): a mean mixes evidence for one with "
                         "evidence for another; `by` target keeps them apart")
        return found

    def _refuse_cut(self, kind: str) -> None:
        if kind not in KINDS:
            raise Error(f"unknown kind '{kind}'; there are {', '.join(KINDS)}")
        if self.cut and kind in OF_WHOLE_TEXTS:
            raise Error(f"kind '{kind}': needs all values, and {counted(self.cut, 'text')} of {self.texts:,} "
                        f"{'is' if self.cut == 1 else 'are'} cut to the top {self.settings.get('top')}; run `headwater "
                        "attribute` without `top`")

    def rows(self, kind: str, *, least: int = 1) -> list[Mean]:
        """The means of a kind, largest first (positions in order, texts as in `DataSummary`): group, key, count, mean, low
        and high of its 95 % interval by Student's t, which one value does not have.

        `least` leaves out keys with fewer values.
        """
        self._refuse_cut(kind)
        out = []
        for (group, key), moments in self._tables[kind].items():
            low, high = moments.interval
            if moments.count >= least:
                out.append(Mean(group=group, key=key, count=moments.count, mean=moments.mean, low=low, high=high))
        return sorted(out, key=lambda row: (str(row["group"]), row["key"] if kind == "position" else
                                            MEASURES.index(str(row["key"])) if kind == "text" else -row["mean"],
                                            str(row["key"])))

    def drift(self, other: DataSummary, kind: str = "token", *, least: int = 1) -> list[Drift]:
        """How the means of `other`, a later run, differ from these: difference, its 95 % interval (Welch's), and how many
        standard errors it is; the surest first.

        Both must have been made in the same way, but of any model: `compared` says what differs there.
        """
        self._refuse_cut(kind)
        other._refuse_cut(kind)
        self.compared(other)
        out = []
        for key in self._tables[kind].keys() & other._tables[kind].keys():
            a, b = self._tables[kind][key], other._tables[kind][key]
            if min(a.count, b.count) < max(least, 2):
                continue
            difference, error, reach = a.difference(b)
            out.append(Drift(group=key[0], key=key[1], count=a.count, count_other=b.count, mean=a.mean,
                            mean_other=b.mean, difference=difference, low=difference - reach, high=difference + reach,
                            errors=difference / error if error > 0 else math.copysign(math.inf, difference)
                            if difference else 0.0))
        return sorted(out, key=lambda row: (-abs(row["errors"]), str(row["group"]), str(row["key"])))

    def compared(self, other: DataSummary) -> list[str]:
        """Caveats for a comparison with `other`. Raises headwater.Error if they cannot be compared."""
        self._refuse_other_groups(other)
        wrong = [f"{word} {self.settings.get(word)} and {other.settings.get(word)}"
                 for word in sorted(self.settings.keys() | other.settings.keys())
                 if word not in ("model", "content", "headwater") and self.settings.get(word) != other.settings.get(word)]
        if wrong:
            raise Error(f"summaries: were made with different options ({'; '.join(wrong)}), expected the same, so that only "
                        "texts or the model differ; run `headwater attribute` again with the same options")
        found = []
        models = [one.settings.get("model") for one in (self, other)]
        if self.settings.get("content") != other.settings.get("content"):
            found.append(f"the models differ: {models[0]}, then {models[1]}"
                         + (" with other files" if models[0] == models[1] else ""))
        versions = [one.settings.get("headwater") for one in (self, other)]
        if versions[0] != versions[1]:
            found.append(f"the versions of headwater differ: {versions[0]}, then {versions[1]}")
        return found

    def _refuse_other_groups(self, other: DataSummary) -> None:
        for word in ("by", "parts"):
            if getattr(self, word) != getattr(other, word):
                raise Error(f"summaries: one is by {getattr(self, word)}, the other by {getattr(other, word)}, expected "
                            "the same; make them in the same way")

    def __add__(self, other: DataSummary) -> DataSummary:
        if not isinstance(other, DataSummary):
            return NotImplemented
        self._refuse_other_groups(other)
        if self.texts + self.failed and other.texts + other.failed:
            wrong = [word for word in sorted(self.settings.keys() | other.settings.keys())
                     if word != "model" and self.settings.get(word) != other.settings.get(word)]
            if wrong:
                raise Error(f"summaries: are of other models, methods or options ({', '.join(wrong)}), expected the same; "
                            "drift() compares models")
        # A model may have been given under two names: the order of the summaries does not change which one is used.
        settings = min((one.settings for one in (self, other) if one.settings), default={},
                       key=lambda one: str(one.get("model")))
        out = DataSummary(settings, self.by, self.parts)
        out.texts, out.failed, out.cut = self.texts + other.texts, self.failed + other.failed, self.cut + other.cut
        for part in (self, other):
            for target, count in part.targets.items():
                out.targets[target] = out.targets.get(target, 0) + count
        for kind in KINDS:
            for part in (self, other):
                add_tables(out._tables[kind], part._tables[kind])
        return out

    def __eq__(self, other: object) -> bool:
        """Whether both have the same numbers."""
        return isinstance(other, DataSummary) and json.loads(self.to_json()) == json.loads(other.to_json())

    __hash__ = None  # type: ignore[assignment]

    # -- export

    def to_json(self) -> str:
        """JSON that `headwater.summarise` and `headwater summarise` read."""
        tables = {kind: sorted(([*key, *moments] for key, moments in table.items()),
                               key=lambda row: (str(row[0]), str(row[1]))) for kind, table in self._tables.items()}
        if self.cut:
            tables |= {kind: [] for kind in OF_WHOLE_TEXTS}
        return json.dumps(dict(headwater_summary=FORMAT, notes=self.notes, settings=self.settings, by=self.by,
                               parts=self.parts, texts=self.texts, failed=self.failed, cut=self.cut,
                               targets=dict(sorted(self.targets.items())), **tables), ensure_ascii=False)

    @staticmethod
    def from_json(text: str, name: str = "summary") -> DataSummary:
        """The summary that `to_json` wrote."""
        try:
            read = json.loads(text)
            if read["headwater_summary"] != FORMAT:
                raise ValueError("it is of another version")
            out = DataSummary(read["settings"], read["by"], read["parts"])
            out.texts, out.failed, out.cut = int(read["texts"]), int(read["failed"]), int(read["cut"])
            out.targets = {str(name): int(count) for name, count in read["targets"].items()}
            for kind in KINDS:
                out._tables[kind] = {(group, key): Moments(int(count), int(total), int(squares))
                                     for group, key, count, total, squares in read[kind]}
        except (KeyError, TypeError, ValueError) as wrong:
            raise Error(f"{name}: is not a summary of headwater ({wrong}); give a folder, or a .json of summarise") from None
        return out

    def to_arrow(self) -> Table:
        """All means as a pyarrow table: kind, group, key, count, mean, low, high; the notes are in its metadata."""
        kinds = [kind for kind in KINDS if not (self.cut and kind in OF_WHOLE_TEXTS)]
        rows = [dict(kind=kind, **row, ) | dict(key=str(row["key"])) for kind in kinds for row in self.rows(kind)]
        arrow = pyarrow()
        fields = dict(kind=arrow.string(), group=arrow.string(), key=arrow.string(), count=arrow.int64(),
                      mean=arrow.float64(), low=arrow.float64(), high=arrow.float64())
        return arrow.Table.from_pylist(rows, arrow.schema(fields, {"headwater_notes": json.dumps(self.notes)}))

    def save(self, path: AnyPath) -> None:
        """Writes .json, which can be merged with others, or .parquet, by the ending."""
        from ..saved import Output, write_text, write_whole

        def parquet(output: Output) -> None:
            import pyarrow.parquet
            pyarrow.parquet.write_table(self.to_arrow(), output)
        write_whole(os.fspath(path), {".json": lambda output: write_text(output, self.to_json()), ".parquet": parquet})

    def __repr__(self) -> str:
        return f"<headwater.DataSummary of {self.texts} texts, {self.failed} failed>"


def texts_of(column: ChunkedArray) -> list[str | None]:
    """The values of a column as names of groups. Times are written by Arrow: Python's have no nanoseconds."""
    arrow = pyarrow()
    if arrow.types.is_temporal(column.type):
        column = column.cast(arrow.string())
    return [as_text(value) for value in column.to_pylist()]


def as_text(value: object) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value, default=str)


def spans_of(value: object) -> dict[str, tuple[int, int]]:
    """{"question": [0, 20], ...} as JSON or as a record: the bytes of each part of a text."""
    read = json.loads(value) if isinstance(value, str) else value
    if read is None:
        return {}
    if not isinstance(read, dict) or not all(span is None or len(span) == 2 for span in read.values()):
        raise Error(f"parts {str(value)[:60]}: expected an object of spans, as {{\"question\": [0, 20]}}; correct the column")
    return {str(name): (int(span[0]), int(span[1])) for name, span in read.items() if span is not None}
