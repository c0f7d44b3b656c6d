"""Results that are put together in Python: written by their ending, as the engine writes its own."""
from __future__ import annotations

import os
from typing import Any, Callable, Mapping

import numpy as np

from .arrays import NumPyArray
from .errors import Error

PICTURES = (".png", ".svg", ".pdf")


def write_whole(path: str, writers: Mapping[str, Callable[[str], None]]) -> None:
    """Calls the writer for the ending of `path`. The file is whole or not there, and an old one survives a failure."""
    folder, ending = os.path.dirname(path) or ".", os.path.splitext(path)[1]
    if ending not in writers:
        raise Error(f"{path}: no format has the ending '{ending}' here; expected {' or '.join(writers)}")
    if not os.path.isdir(folder):
        raise Error(f"{path}: the folder '{folder}' does not exist; make it first")
    part = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}{ending}")
    try:
        writers[ending](part)
        os.replace(part, path)
    except OSError as error:
        raise Error(f"{path}: cannot be written, {error.strerror or error}; check the place") from None
    finally:
        if os.path.exists(part):
            os.remove(part)


def write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.rstrip("\n") + "\n")


class Saved:
    """`.save(path)` for a class with `to_json()`, `arrays()` (.npy holds the first of them) and `plot()`."""

    def arrays(self) -> dict[str, NumPyArray]:
        """The arrays that .npz holds, by name."""
        raise NotImplementedError

    def to_json(self) -> str:
        """All of the result as JSON."""
        raise NotImplementedError

    def plot(self) -> Any:
        """A matplotlib figure."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json .npy .npz .png .svg or .pdf, by the ending. Pictures need matplotlib."""
        writers: dict[str, Callable[[str], None]] = {".json": self._write_json, ".npy": self._write_npy,
                                                     ".npz": self._write_npz}
        write_whole(os.fspath(path), writers | {ending: self._write_picture for ending in PICTURES})

    def _write_json(self, path: str) -> None:
        write_text(path, self.to_json())

    def _write_npy(self, path: str) -> None:
        np.save(path, next(iter(self.arrays().values())))

    def _write_npz(self, path: str) -> None:
        np.savez(path, **self.arrays())  # type: ignore[arg-type]

    def _write_picture(self, path: str) -> None:
        from .plot import pyplot
        figure = self.plot()
        figure.savefig(path)
        pyplot().close(figure)
