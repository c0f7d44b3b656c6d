"""The outcome of the rows of a run."""
from __future__ import annotations

from typing import Hashable

from ..kinds import Table
from .parquet_rows import list_of

MOST_IDS = 100_000  # that are checked for duplicates, so that memory does not grow


class Outcome:
    """Counts the rows that failed, and notices ids that come twice."""

    def __init__(self, *, named: bool) -> None:
        self.failed, self._named = 0, named
        self.first: tuple[Hashable, str] = ("", "")  # the first row that failed: its id and the reason
        self._ids: set[int] = set()  # hashes of ids
        self._twice: tuple[Hashable] | None = None

    def add(self, table: Table) -> None:
        """Adds a block by its columns id and error."""
        ids = list_of(table["id"].combine_chunks())
        for name, error in zip(ids, table["error"].to_pylist()):
            if error is not None:
                self.failed += 1
                self.first = self.first if self.first[1] else (name, error)
        if self._named and self._twice is None and len(self._ids) < MOST_IDS:
            for name in ids:
                if name is not None and hash(str(name)) in self._ids:
                    self._twice = (name,)
                    break
                self._ids.add(hash(str(name)))

    def notes(self, column: str | None) -> list[str]:
        return [f"column '{column}' names several rows {self._twice[0]!r}, so the id does not tell them apart"] if (
            column and self._twice) else []
