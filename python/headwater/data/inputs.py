"""Rows of Parquet, JSON lines, CSV or text, in blocks of a fixed number of rows."""
from __future__ import annotations

import csv
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from ..errors import Error
from .settings import nearest
from .table import pyarrow

ENDINGS = (".parquet", ".jsonl", ".csv", ".txt")
Values = tuple[list[Any], str | None]  # of the columns, and what is wrong with the row


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which rows are to be read, by their numbers in all inputs."""

    block: Callable[[int], bool]
    size: int

    def row(self, number: int) -> bool:
        return self.block(number // self.size)

    def any(self, first: int, count: int) -> bool:
        return any(map(self.block, range(first // self.size, -(-(first + count) // self.size))))


@dataclasses.dataclass
class Block:
    """Consecutive rows: the values of each asked column, and what is wrong with a row that could not be read."""

    index: int
    first: int
    rows: list[Values]


def kind_of(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending in (".ndjson", ".json"):
        ending = ".jsonl"
    if ending not in ENDINGS:
        raise Error(f"{path}: no format has the ending '{Path(path).suffix}' here, expected .parquet, .jsonl, .csv or "
                    ".txt; rename or convert it")
    if not os.path.isfile(path):
        raise Error(f"{path}: is not a file, expected one to read; check the name")
    return ending


class File:
    """One input. `types` are pyarrow's for the columns asked for, or the word 'json' for what is kept as JSON text."""

    def __init__(self, path: str, columns: Sequence[str]):
        self.path, self.columns, self.kind = path, list(columns), kind_of(path)
        self.types = self._types()
        self.count = self._count()

    # -- what there is

    def _missing(self, names: Sequence[str]) -> None:
        for name in self.columns:
            if name not in names:
                raise Error(f"{self.path}: has no column '{name}'{nearest(name, list(names))}; give --column, --id or "
                            "--keep the name of one that is there")

    def _types(self) -> dict[str, Any]:
        if self.kind == ".parquet":
            schema = self._parquet().schema_arrow
            self._missing(schema.names)
            kinds = {name: schema.field(name).type for name in self.columns}
            return {name: kind.value_type if pyarrow().types.is_dictionary(kind) else kind
                    for name, kind in kinds.items()}
        if self.kind == ".txt":
            self._missing(["text"])
        if self.kind == ".csv":
            with self._open() as file:
                self._missing(next(self._records(file), []))
        if self.kind == ".jsonl":
            return json_types(self.path, self.columns, self._head())
        return {name: pyarrow().string() for name in self.columns}

    def _head(self, rows: int = 1000) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        with self._open() as file:
            for line in file:
                if line.strip() and isinstance(read := parsed(line), dict):
                    found.append(read)
                if len(found) == rows:
                    break
        return found

    def _count(self) -> int:
        if self.kind == ".parquet":
            return int(self._parquet().metadata.num_rows)
        with self._open() as file:
            if self.kind == ".csv":
                return max(0, sum(1 for _ in self._records(file)) - 1)
            return sum(1 for line in file if self.kind == ".txt" or line.strip())

    # -- its rows

    def rows(self, first: int, wanted: Wanted) -> Iterator[Values | None]:
        """Each row, or None for one that is not wanted. `first` is the number of its first row in all inputs."""
        if self.kind == ".parquet":
            yield from self._parquet_rows(first, wanted)
            return
        with self._open() as file:
            readers: dict[str, Callable[[Any], Values]] = {".txt": self._text_row, ".jsonl": self._json_row,
                                                           ".csv": self._csv_row}
            read = readers[self.kind]
            records: Iterator[Any] = iter(file)
            if self.kind == ".csv":
                records = self._records(file)
                self._names = next(records, [])
            elif self.kind == ".jsonl":
                records = (line for line in file if line.strip())
            for k, record in enumerate(records):
                yield read(record) if wanted.row(first + k) else None

    def _text_row(self, line: str) -> Values:
        return [line.rstrip("\n")], None

    def _json_row(self, line: str) -> Values:
        read = parsed(line)
        if not isinstance(read, dict):
            return [None] * len(self.columns), "is no JSON object, expected one for each line; correct it"
        return [read.get(name) for name in self.columns], None

    def _csv_row(self, record: list[str]) -> Values:
        if len(record) != len(self._names):
            return [None] * len(self.columns), (f"has {len(record)} fields, expected {len(self._names)}, as the first "
                                                "line; correct it")
        return [record[self._names.index(name)] for name in self.columns], None

    def _parquet_rows(self, first: int, wanted: Wanted) -> Iterator[Values | None]:
        file = self._parquet()
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if not wanted.any(first, count):
                yield from (None for _ in range(count))  # not even read
                first += count
                continue
            for batch in file.iter_batches(4096, [group], self.columns):
                columns = [batch.column(batch.schema.get_field_index(name)).to_pylist() for name in self.columns]
                for values in zip(*columns):
                    yield (list(values), None) if wanted.row(first) else None
                    first += 1

    # -- how it is opened

    def _parquet(self) -> Any:
        pyarrow()
        import pyarrow.parquet as parquet
        try:
            return parquet.ParquetFile(self.path)
        except (OSError, ValueError) as wrong:
            raise Error(f"{self.path}: cannot be read as Parquet ({str(wrong).splitlines()[0]}); check the file") from None

    def _open(self) -> Any:
        return open(self.path, encoding="utf-8", errors="surrogateescape", newline="" if self.kind == ".csv" else "\n")

    def _records(self, file: Any) -> Iterator[list[str]]:
        csv.field_size_limit(sys.maxsize)
        return csv.reader(file, strict=False)


def parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def json_types(path: str, columns: Sequence[str], head: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The types of columns by the first rows. A column of lists, objects or several types is kept as JSON text."""
    arrow = pyarrow()
    types: dict[str, Any] = {}
    for name in columns:
        values = [row[name] for row in head if row.get(name) is not None]
        if head and not any(name in row for row in head):
            raise Error(f"{path}: has no column '{name}' in its first {len(head)} rows"
                        f"{nearest(name, list(head[0]))}; give --column, --id or --keep the name of one that is there")
        kinds = {type(value) for value in values}
        types[name] = (arrow.bool_() if kinds == {bool} else arrow.int64() if kinds == {int} else
                       arrow.float64() if kinds and kinds <= {int, float} else arrow.string() if kinds <= {str}
                       else "json")
    return types


class Inputs:
    """All inputs, one after the other, cut into blocks of `size` rows."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str], size: int):
        self.columns = list(dict.fromkeys(columns))
        self.files = [File(path, self.columns) for path in paths]
        self.size = size
        self.count = sum(file.count for file in self.files)
        self.types = self.files[0].types
        for file in self.files[1:]:
            for name, kind in file.types.items():
                if kind != self.types[name]:
                    raise Error(f"{file.path}: column '{name}' is {kind}, expected {self.types[name]}, as in "
                                f"{self.files[0].path}; convert one of them")

    @property
    def blocks(self) -> int:
        return -(-self.count // self.size)

    def read(self, wanted: Callable[[int], bool]) -> Iterator[Block]:
        """The wanted blocks, in order."""
        first = 0
        rows: list[Values] = []
        want = wanted(0)
        for file in self.files:
            for row in file.rows(first, Wanted(wanted, self.size)):
                if row is not None:
                    rows.append(row)
                first += 1
                if first % self.size == 0:
                    if want:
                        yield Block(first // self.size - 1, first - self.size, rows)
                    rows, want = [], wanted(first // self.size)
        if rows and want:
            yield Block(first // self.size, first // self.size * self.size, rows)
