"""Reads a folder of blocks back."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, Sequence

from ..errors import Error
from ..kinds import AnyPath, Table
from .blocks import KEY, ROWS, blocks_in, settings_of
from .settings import nearest
from .table import pyarrow
from .words import counted


def paths_of(folder: AnyPath, partial: bool = False) -> list[Path]:
    """The blocks, in the order of the input. Raises headwater.Error if there are none, or if some are missing."""
    if not Path(folder).is_dir():
        raise Error(f"{os.fspath(folder)}: is not a folder, expected the one that `headwater attribute` wrote; check the name")
    found = dict(blocks_in(Path(folder)))
    if not found:
        raise Error(f"{os.fspath(folder)}: holds no blocks, expected those of `headwater attribute`; check the name")
    settings = settings_of(found[min(found)])
    blocks = -(-settings["rows"] // settings["block"])
    missing = sorted(set(range(blocks)) - set(found))
    if missing and not partial:
        raise Error(f"{os.fspath(folder)}: {len(found):,} of {counted(blocks, 'block')} {'is' if len(found) == 1 else 'are'}"
                    f" there, the first that is missing is block {missing[0]}; run the same `headwater attribute` again to "
                    "complete it, or take what is there with `partial`")
    return [found[index] for index in sorted(found)]


def rows_of(path: Path) -> str:
    """A hash of the rows that a block is of, whatever was asked of them."""
    pyarrow()
    import pyarrow.parquet as parquet
    found: bytes = (parquet.read_schema(path).metadata or {}).get(ROWS, path.name.encode())
    return found.decode()


def read(folder: AnyPath, *, columns: Sequence[str] | None = None, partial: bool = False) -> Table:
    """What `headwater attribute` wrote into a folder, as a pyarrow table in the order of the input.

    `columns` chooses some. `partial=True` takes a folder whose blocks are not all there yet. pandas, polars and duckdb
    read the folder's .parquet files as they are. Raises headwater.Error.
    """
    tables = list(read_blocks(folder, columns=columns, partial=partial))
    return pyarrow().concat_tables(tables)


def read_blocks(folder: AnyPath, *, columns: Sequence[str] | None = None,
                partial: bool = False) -> Iterator[Table]:
    """The tables of the blocks, one at a time."""
    pyarrow()
    import pyarrow.parquet as parquet
    first, settings = None, b""
    for path in paths_of(folder, partial):
        file = parquet.ParquetFile(path)
        own = (file.schema_arrow.metadata or {}).get(KEY, b"")
        if first is None:
            first, settings = path, own
        elif own != settings:
            raise Error(f"{path}: belongs to other work than {first.name}; remove the one that does not belong to the folder")
        for name in columns or ():
            if name not in file.schema_arrow.names:
                raise Error(f"{path}: has no column '{name}'{nearest(name, file.schema_arrow.names)}")
        yield file.read(columns=None if columns is None else list(columns))
