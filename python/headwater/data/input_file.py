"""One input of rows: Parquet, JSON lines or an array, CSV, TSV or text; the last five also with .gz."""
from __future__ import annotations

import csv
import dataclasses
import gzip
import json
import os
import re
import sys
import zlib
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence, TextIO, TypeAlias, cast

from ..errors import Error
from ..kinds import ColumnType
from .beginning import check_text, is_gzip_name
from .parquet_rows import lists_of, open_parquet, type_of
from .settings import nearest
from .table import pyarrow

KINDS = (".parquet", ".jsonl", ".csv", ".tsv", ".txt")
ALSO = {".ndjson": ".jsonl", ".json": ".jsonl", ".tab": ".tsv"}
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of other bytes
Values: TypeAlias = tuple[list[Any], str | None]  # of the columns, and what is wrong with the row


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which rows to read, by their numbers over all inputs."""

    block: Callable[[int], bool]
    size: int

    def row(self, number: int) -> bool:
        return self.block(number // self.size)

    def any(self, first: int, count: int) -> bool:
        return any(map(self.block, range(first // self.size, -(-(first + count) // self.size))))


def kind_of(path: str) -> str | None:
    """The format by the ending, which is one of KINDS; None if no format has it."""
    name = Path(path)
    packed = name.suffix.lower() == ".gz"
    ending = (Path(name.stem) if packed else name).suffix.lower()
    kind = ALSO.get(ending, ending)
    return None if kind not in KINDS or packed and kind == ".parquet" else kind


def checked_kind(path: str) -> str:
    kind = kind_of(path)
    if kind is None:
        raise Error(f"{path}: no format has the ending '{''.join(Path(path).suffixes[-2:])}' here, expected .parquet, "
                    ".jsonl, .json, .csv, .tsv or .txt, or .gz after one of the last five; rename or convert it")
    if not os.path.isfile(path):
        raise Error(f"{path}: is not a file, expected one to read; check the name")
    return kind


class File:
    """One input. `types` are pyarrow's for the columns asked for, or the word 'json' for what is kept as JSON text."""

    def __init__(self, path: str, columns: Sequence[str], kind: str | None = None, name: str | None = None):
        self.place, self.path, self.columns = path, name or path, list(columns)
        self.kind = kind or checked_kind(path)
        self._names: list[str] = []  # of the first line of CSV and TSV
        try:
            if self.kind != ".parquet":
                check_text(self.place, self.path)
            self.array = self.kind == ".jsonl" and self._is_array()
            self.types = self._types()
            self.count = self._count()
        except (gzip.BadGzipFile, EOFError, zlib.error) as wrong:
            raise Error(f"{self.path}: cannot be unpacked ({wrong}); check the file") from None

    # -- what the file contains

    def _missing(self, names: Sequence[str]) -> None:
        if not names:
            raise Error(f"{self.path}: has no columns, expected '{self.columns[0]}'; the first line of CSV and TSV names them")
        for name in self.columns:
            if list(names).count(name) > 1:
                raise Error(f"{self.path}: has several columns '{name}', expected one; rename the others")
            if name not in names:
                if any(NOT_UTF8.search(one) for one in names):
                    raise Error(f"{self.path}: is not UTF-8; convert it, for example with iconv")
                raise Error(f"{self.path}: has no column '{name}'{nearest(name, list(names))}; give --column, --id or "
                            "--keep the name of one that is there")

    def _types(self) -> dict[str, ColumnType]:
        if self.kind == ".parquet":
            schema = open_parquet(self.place, self.path).schema_arrow
            self._missing(schema.names)
            return {name: type_of(schema.field(name).type) for name in self.columns}
        if self.kind == ".txt":
            self._missing(["text"])
        if self.kind in (".csv", ".tsv"):
            with self._open() as file:
                self._missing(next(self._records(file), []))
        if self.kind == ".jsonl":
            return json_types(self.path, self.columns, self._head())
        return {name: pyarrow().string() for name in self.columns}

    def _head(self, rows: int = 1000) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        with self._open() as file:
            for record in self._records(file):
                if isinstance(read := parsed(record), dict):
                    found.append(read)
                if len(found) == rows:
                    break
        return found

    def _count(self) -> int:
        if self.kind == ".parquet":
            return int(open_parquet(self.place, self.path).metadata.num_rows)
        with self._open() as file:
            count = sum(1 for _ in self._records(file))
        return max(0, count - 1) if self.kind in (".csv", ".tsv") else count

    # -- its rows

    def rows(self, first: int, wanted: Wanted) -> Iterator[Values | None]:
        """Each row, or None for one that is not wanted. `first` is the number of its first row in all inputs."""
        if self.kind == ".parquet":
            yield from self._parquet_rows(first, wanted)
            return
        with self._open() as file:
            readers: dict[str, Callable[[Any], Values]] = {".txt": self._text_row, ".jsonl": self._json_row}
            read = readers.get(self.kind, self._csv_row)
            records = self._records(file)
            if read == self._csv_row:
                self._names = next(records, [])
            for k, record in enumerate(records):
                yield utf8(read(record)) if wanted.row(first + k) else None

    def _text_row(self, line: str) -> Values:
        return [line.rstrip("\n")], None

    def _json_row(self, record: Any) -> Values:
        read = parsed(record)
        if not isinstance(read, dict):
            return [None] * len(self.columns), "is not a JSON object, expected one for each row; correct it"
        return [read.get(name) for name in self.columns], None

    def _csv_row(self, record: list[str]) -> Values:
        if len(record) != len(self._names):
            return [None] * len(self.columns), (f"has {len(record)} fields, expected {len(self._names)}, as the first "
                                                "line; correct it")
        return [record[self._names.index(name)] for name in self.columns], None

    def _parquet_rows(self, first: int, wanted: Wanted) -> Iterator[Values | None]:
        file = open_parquet(self.place, self.path)
        for group in range(file.num_row_groups):
            count = file.metadata.row_group(group).num_rows
            if not wanted.any(first, count):
                yield from (None for _ in range(count))  # not even read
                first += count
                continue
            for batch in file.iter_batches(4096, [group], self.columns):
                for values in zip(*lists_of(batch, self.columns, self.path)):
                    yield utf8((list(values), None)) if wanted.row(first) else None
                    first += 1

    # -- how it is opened

    def _open(self) -> TextIO:
        # utf-8-sig: spreadsheets put a mark before the first name
        opened = gzip.open if is_gzip_name(self.place) else open
        return cast(TextIO, opened(self.place, "rt", encoding="utf-8-sig", errors="surrogateescape",
                                   newline="" if self.kind in (".csv", ".tsv") else "\n"))

    def _is_array(self) -> bool:
        """Whether the file is one JSON array, and not a line for each row."""
        with self._open() as file:
            first = next((line for line in file if line.strip()), "").strip()
        return first.startswith("[") and not isinstance(parsed(first), list) or (
            isinstance(read := parsed(first), list) and all(isinstance(one, dict) for one in read))

    def _records(self, file: TextIO) -> Iterator[Any]:
        """The lines, fields or objects of a file; in CSV and TSV, the first are the names."""
        if self.kind in (".csv", ".tsv"):
            csv.field_size_limit(sys.maxsize)
            return csv.reader(file, delimiter="\t" if self.kind == ".tsv" else ",", strict=False)
        if self.array:
            read = parsed(file.read())
            if not isinstance(read, list):
                raise Error(f"{self.path}: begins like a JSON array but is not one, expected an array of objects, or an object "
                            "a line; correct it")
            return iter(read)
        return (line for line in file if self.kind == ".txt" or line.strip())


def utf8(row: Values) -> Values:
    """The row, with what is wrong with it if its file has other bytes than UTF-8 there."""
    if any(isinstance(value, str) and NOT_UTF8.search(value) for value in row[0]):
        return row[0], "is not UTF-8, expected that; convert the input, for example with iconv"
    return row


def parsed(record: Any) -> Any:
    """A line parsed as JSON, None if it is not JSON; parsed values are returned unchanged."""
    if not isinstance(record, str):
        return record
    try:
        return json.loads(record)
    except (ValueError, RecursionError):  # which deeply nested lists raise
        return None


def json_types(path: str, columns: Sequence[str], head: Sequence[dict[str, Any]]) -> dict[str, ColumnType]:
    """The types of columns by the first rows. A column of lists, objects or several types is kept as JSON text."""
    arrow = pyarrow()
    types: dict[str, ColumnType] = {}
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
