"""Rows of files, of folders of files or of standard input, in blocks of a fixed number of rows."""
from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, Callable, Iterator, Sequence

from ..errors import Error
from .input_file import File, Values, Wanted, kind_of


@dataclasses.dataclass
class Block:
    """Consecutive rows: the values of each asked column, and what is wrong with a row that could not be read."""

    index: int
    first: int
    rows: list[Values]


class Inputs:
    """All inputs, one after the other, cut into blocks of `size` rows. `format` is that of standard input, '-'."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str], size: int, format: str = "jsonl"):
        self.columns = list(dict.fromkeys(columns))
        if list(paths).count("-") > 1:
            raise Error("-: standard input was given twice, expected it once; leave one out")
        self.files: list[File] = []
        for path in paths:
            if path == "-":
                self._standard = spooled()
                self.files.append(File(self._standard.name, self.columns, f".{format}", "standard input"))
            else:
                self.files += [File(one, self.columns) for one in (files_in(path) if os.path.isdir(path) else [path])]
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


def files_in(folder: str) -> list[str]:
    """The files of a folder that hold rows, by name; all of one format."""
    found = sorted(str(path) for path in Path(folder).iterdir()
                   if path.is_file() and not path.name.startswith((".", "_")) and kind_of(str(path)))
    if not found:
        raise Error(f"{folder}: is a folder without rows, expected .parquet, .jsonl, .csv, .tsv or .txt files in it; check "
                    "the name")
    kinds = sorted({str(kind_of(path)) for path in found})
    if len(kinds) > 1:
        raise Error(f"{folder}: holds files of several formats ({', '.join(kinds)}), expected one; name the files")
    return found


def spooled() -> IO[bytes]:
    """Standard input copied to a file that is deleted when the process ends, because rows are counted before they are
    read.
    """
    file = tempfile.NamedTemporaryFile(prefix="headwater-")
    shutil.copyfileobj(sys.stdin.buffer, file)
    file.flush()
    return file
