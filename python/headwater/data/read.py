"""Reads a folder of blocks back."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator, Sequence

from ..errors import Error
from .blocks import blocks_in
from .table import pyarrow


def paths_of(folder: str | os.PathLike[str], partial: bool = False) -> list[Path]:
    """The blocks, in the order of the input. Raises headwater.Error if there are none, or if some are missing."""
    if not Path(folder).is_dir():
        raise Error(f"{os.fspath(folder)}: is no folder, expected the one that `headwater attribute` wrote; check the name")
    found = dict(blocks_in(Path(folder)))
    if not found:
        raise Error(f"{os.fspath(folder)}: holds no blocks, expected those of `headwater attribute`; check the name")
    missing = sorted(set(range(max(found) + 1)) - set(found))
    if missing and not partial:
        raise Error(f"{os.fspath(folder)}: block {missing[0]} is missing ({len(missing)} in all); run `headwater "
                    "attribute` again to complete it, or read what is there with partial=True")
    return [found[index] for index in sorted(found)]


def read(folder: str | os.PathLike[str], *, columns: Sequence[str] | None = None, partial: bool = False) -> Any:
    """What `headwater attribute` wrote into a folder, as a pyarrow table in the order of the input.

    `columns` chooses some. `partial=True` takes a folder whose blocks are not all there yet. pandas, polars and duckdb
    read the folder's .parquet files as they are. Raises headwater.Error.
    """
    tables = list(read_blocks(folder, columns=columns, partial=partial))
    return pyarrow().concat_tables(tables)


def read_blocks(folder: str | os.PathLike[str], *, columns: Sequence[str] | None = None,
                partial: bool = False) -> Iterator[Any]:
    """The tables of the blocks, one at a time."""
    pyarrow()
    import pyarrow.parquet as parquet
    for path in paths_of(folder, partial):
        file = parquet.ParquetFile(path)
        for name in columns or ():
            if name not in file.schema_arrow.names:
                from .settings import nearest
                raise Error(f"{path}: has no column '{name}'{nearest(name, file.schema_arrow.names)}")
        yield file.read(columns=None if columns is None else list(columns))
