"""Blocks of results in a folder: named by their content, written completely or not at all.

A block's file is INDEX-HASH.parquet. The hash is that of its rows, the settings and the model's content, so a file that
is there is done, whoever wrote it, and running again only does what is missing. A file is written beside its place and
renamed. Two processes that write the same block write the same bytes.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import socket
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from ..errors import Error
from ..kinds import ColumnType, Table
from .inputs import Block
from .row import is_unicode
from .table import arrow_type, pyarrow
from .words import counted

NAME = re.compile(r"([0-9]{7,})-([0-9a-f]{16})\.parquet")
PART = re.compile(r"\.([0-9]{7,}-[0-9a-f]{16}\.parquet)\.(.+)\.([0-9]+)\.part")
KEY = b"headwater"  # in the metadata: the request
ROWS = b"headwater_rows"  # a hash of the rows alone


def hash_of(block: Block, settings: str = "") -> str:
    whole = hashlib.sha256(settings.encode())
    for row in block.rows:
        whole.update(repr(row).encode("utf-8", "surrogateescape") + b"\n")
    return whole.hexdigest()[:16]


def name_of(block: Block, settings: str) -> str:
    return f"{block.index:07}-{hash_of(block, settings)}.parquet"


class Folder:
    """Creates the folder if needed, and lists its blocks."""

    def __init__(self, path: str):
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Error(f"{path}: cannot be made, {error.strerror}; give -o a folder") from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise Error(f"{path}: cannot be written to; give -o another folder")
        self.there = {index: path.name for index, path in blocks_in(self.path)}
        self._clear_parts()

    def _clear_parts(self) -> None:
        """Removes files left by processes of this machine that have ended."""
        for path in self.path.glob(".*.part"):
            match = PART.fullmatch(path.name)
            if match and match[2] == socket.gethostname() and not alive(int(match[3])):
                path.unlink(missing_ok=True)

    def check(self, settings: str) -> None:
        """Raises an Error if the folder has blocks made with other settings."""
        for name in self.there.values():
            found = settings_of(self.path / name)
            if json.dumps(found, sort_keys=True) != settings:
                asked = json.loads(settings)
                if {**found, "rows": 0} == {**asked, "rows": 0}:
                    raise Error(f"{self.path}: was written for {counted(found['rows'], 'row')}, and the inputs now have "
                                f"{asked['rows']:,}; give rows that were added as an input of their own, with -o another "
                                "folder (`headwater summarise` takes several), or give -o another folder for all")
                differing = differences(found, asked)
                raise Error(f"{self.path / name}: belongs to other work ({differing}); give -o another folder, or remove "
                            "this one")
            return  # the other blocks have the same settings in their hash, or are refused because of it

    def has(self, block: Block, name: str) -> bool:
        """Whether a block is done. Raises an Error if its place holds one of other rows or settings."""
        found = self.there.get(block.index)
        if found is None:
            return (self.path / name).exists()
        if found != name:
            raise Error(f"{self.path / found}: is of other rows than block {block.index} (rows {block.first} to "
                        f"{block.first + len(block.rows) - 1}) now has; give -o another folder, or remove this file to "
                        "have the rows that are there now")
        return True

    def write(self, name: str, table: Table) -> None:
        import pyarrow.parquet as parquet
        part = self.path / f".{name}.{socket.gethostname()}.{os.getpid()}.part"
        try:
            with open(part, "wb") as file:
                parquet.write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.path / name)
        except OSError as error:
            raise Error(f"{self.path / name}: cannot be written, {error.strerror or error}; check the place") from None
        finally:
            part.unlink(missing_ok=True)

    def refuse_after(self, blocks: int) -> None:
        """Raises an Error if there are blocks beyond the last expected one."""
        for index, name in sorted(self.there.items()):
            if index >= blocks:
                raise Error(f"{self.path / name}: is block {index}, and the inputs have {blocks}; give -o another "
                            "folder, or remove this file")


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def blocks_in(folder: Path) -> Iterator[tuple[int, Path]]:
    """The blocks of a folder by number. Raises an Error if two have the same number."""
    seen: dict[int, str] = {}
    for path in sorted(folder.glob("*.parquet")):
        match = NAME.fullmatch(path.name)
        if not match:
            raise Error(f"{path}: is not a block of headwater, expected none but these in the folder; give another folder")
        index = int(match[1])
        if index in seen:
            raise Error(f"{path}: is block {index}, as {seen[index]}; remove the one that does not belong here")
        seen[index] = path.name
        yield index, path


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a block, from its metadata."""
    pyarrow()
    import pyarrow.parquet as parquet
    try:
        metadata = parquet.read_schema(path).metadata or {}
        found: dict[str, Any] = json.loads(metadata[KEY])
    except (OSError, ValueError, KeyError) as wrong:
        raise Error(f"{path}: is not a block of headwater ({wrong}); give another folder") from None
    if not {"rows", "block", "keep", "top", "method"} <= found.keys():
        raise Error(f"{path}: was written by another version of headwater; run `headwater attribute` into another folder")
    return found


def differences(found: Mapping[str, object], expected: Mapping[str, object]) -> str:
    differing = [word for word in {*found, *expected} if found.get(word) != expected.get(word)]
    differing.sort(key=lambda word: (word not in found or word not in expected, word))
    return "; ".join(f"{word} {found.get(word)}, not {expected.get(word)}" for word in differing[:3])


def fitted(value: Any, kind: ColumnType) -> Any:
    """A JSON value converted to its column's type; values of other columns are unchanged. Raises ValueError if it does
    not fit.
    """
    arrow = pyarrow()
    if value is None:
        return None
    if kind == "json":
        value, kind = json.dumps(value, ensure_ascii=False, sort_keys=True), arrow.string()
    if kind == arrow.float64() and type(value) in (int, float):
        return float(value)
    expected = {arrow.int64(): int, arrow.bool_(): bool, arrow.string(): str, arrow.float64(): float}.get(kind)
    if expected is not None and type(value) is not expected:
        raise ValueError(f"is {json.dumps(value, default=repr)[:40]}, expected {kind}, as in the first rows")
    if kind == arrow.int64() and not -2**63 <= value < 2**63:
        raise ValueError("does not fit into 64 bits")
    if isinstance(value, str) and not is_unicode(value):
        raise ValueError("is not Unicode text (it holds other bytes than UTF-8, or half of a surrogate pair)")
    return value


def table_of(columns: Mapping[str, Sequence[Any]], kept: Mapping[str, Sequence[Any]], types: Mapping[str, ColumnType],
             method: str, settings: str, rows: str) -> Table:
    """The rows of a block as a table: the kept columns, then ours."""
    arrow = pyarrow()
    arrays = {name: arrow.array(values, arrow.string() if types[name] == "json" else types[name])
              for name, values in kept.items()}
    arrays |= {name: arrow.array(values, arrow_type(name, method)) for name, values in columns.items()}
    return arrow.table(arrays).replace_schema_metadata({KEY: settings.encode(), ROWS: rows.encode()})
