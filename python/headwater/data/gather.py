"""The summary of folders that `headwater attribute` wrote, and of summaries that were saved."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Mapping, Sequence

from ..errors import Error
from ..kinds import AnyPath
from .blocks import settings_of
from .read import paths_of, read_blocks, rows_of
from .summary import DataSummary

GROUPS = ("target", "row", "length")  # columns of the result that name groups


def summarise(results: AnyPath | Sequence[AnyPath], *, by: str | None = None,
              parts: str | None = None, partial: bool = False) -> DataSummary:
    """Which tokens, positions and parts of texts matter most, over a folder that `headwater attribute` wrote.

    `results` is such a folder, a summary saved as .json, or several of them, which are merged. `by` is a kept column, or
    'target', 'row' or 'length': everything is then counted for each of its values. `parts` is a kept column of spans, in
    bytes of the text, as {"question": [0, 20], "context": [21, 300]}: the share of each part is counted, too.
    `partial=True` takes folders whose blocks are not all there. Reads a block at a time. Look at `notes` of the result.
    Raises headwater.Error, also for two folders that hold the same rows.
    """
    given = [results] if isinstance(results, (str, os.PathLike)) else results
    if isinstance(given, Mapping) or not isinstance(given, Sequence) or not all(
            isinstance(one, (str, os.PathLike)) for one in given):
        raise Error(f"summarise: was given {type(results).__name__}, expected the name of a folder that `headwater "
                    "attribute` wrote, or a list of names; columns of an Attributor can be written with the command first")
    if not given:
        raise Error("summarise: nothing was given, expected a folder of `headwater attribute`; give one")
    seen: dict[str, str] | None = {} if len(given) > 1 else None  # maps the rows of a block to where they were found
    found = [_one(os.fspath(one), by, parts, partial, seen) for one in given]
    total = found[0]
    for other in found[1:]:
        total = total + other
    return total


def _one(path: str, by: str | None, parts: str | None, partial: bool, seen: dict[str, str] | None) -> DataSummary:
    if path.endswith(".json"):
        return _saved(path, by, parts)
    paths = paths_of(path, partial)
    settings = settings_of(paths[0])
    allowed = dict(by=["id", *settings["keep"], *GROUPS], parts=settings["keep"])
    for word, column in (("by", by), ("parts", parts)):
        if column is not None and column not in allowed[word]:
            raise Error(f"`{word}` {column}: is not in {path}, expected {' or '.join(allowed[word]) or 'a kept column'}; "
                        f"or run `headwater attribute` into another folder with `keep` {column}")
    if seen is not None:
        _refuse_twice(path, paths, seen)
    columns = ["tokens", "values", "error", "target", *(["positions", "length"] if settings["top"] else []),
               *([by] if by else []), *([parts, "starts", "ends"] if parts else [])]
    out = DataSummary(settings, by, parts)
    for table in read_blocks(path, columns=list(dict.fromkeys(columns)), partial=partial):
        out.add(table)
    return out


def _refuse_twice(folder: str, paths: Sequence[Path], seen: dict[str, str]) -> None:
    """Raises an Error if the rows of a block were in a folder before this one."""
    own: dict[str, str] = {}
    for path in paths:
        rows = rows_of(path)
        if rows in seen:
            raise Error(f"{path}: has the rows of {seen[rows]}, which would count twice; give only one of the folders")
        own[rows] = str(path)
    seen |= own


def _saved(path: str, by: str | None, parts: str | None) -> DataSummary:
    try:
        saved = DataSummary.from_json(Path(path).read_text(encoding="utf-8"), path)
    except OSError as error:
        raise Error(f"{path}: cannot be read, {error.strerror}; check the name") from None
    for word, asked, was in (("by", by, saved.by), ("parts", parts, saved.parts)):
        if asked is not None and asked != was:
            raise Error(f"`{word}` {asked}: {path} is a summary that was made "
                        + (f"with {was}" if was else "without it") + ", expected the same; summarise the folder again")
    return saved
