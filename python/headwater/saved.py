"""Results that are made in Python, written in the format of the ending, as the engine writes its own."""
from __future__ import annotations

import io
import os
from typing import Any, Callable, Mapping

import numpy as np

from . import _engine
from .arrays import NumPyArray
from .errors import Error
from .kinds import AnyPath, Figure

PICTURES = (".png", ".svg", ".pdf")


class Output(io.RawIOBase):
    """The engine's output file as a file of Python's. Nothing is at its path before `commit()`."""

    def __init__(self, path: str):
        self._file = _engine.OutputFile(path)
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, bytes: Any) -> int:
        count = self._file.write(memoryview(bytes).tobytes())
        self._written += count
        return count

    def tell(self) -> int:
        return self._written

    def commit(self) -> None:
        self._file.commit()


def write_whole(path: str, writers: Mapping[str, Callable[[Output], None]]) -> None:
    """Calls the writer for the ending of `path`. The file appears complete or not at all, and an old one survives a
    failure.
    """
    ending = os.path.splitext(path)[1]
    if ending not in writers:
        raise Error(f"{path}: no format has the ending '{ending}' here; expected {' or '.join(writers)}")
    output = Output(path)
    writers[ending](output)
    output.commit()


def write_text(output: Output, text: str) -> None:
    output.write((text.rstrip("\n") + "\n").encode())


class Saved:
    """`.save(path)` for a class with `to_json()`, `arrays()` (.npy holds the first of them) and `plot()`."""

    def arrays(self) -> dict[str, NumPyArray]:
        """The arrays that .npz holds, by name."""
        raise NotImplementedError

    def to_json(self) -> str:
        """All of the result as JSON."""
        raise NotImplementedError

    def plot(self) -> Figure:
        """A matplotlib figure."""
        raise NotImplementedError

    def save(self, path: AnyPath) -> None:
        """Writes .json .npy .npz .png .svg or .pdf, by the ending. Pictures need matplotlib."""
        writers: dict[str, Callable[[Output], None]] = {
            ".json": lambda output: write_text(output, self.to_json()),
            ".npy": lambda output: np.save(output, next(iter(self.arrays().values()))),
            ".npz": lambda output: np.savez(output, **self.arrays())}  # type: ignore[arg-type]
        pictures = {ending: lambda output, ending=ending: self._write_picture(output, ending) for ending in PICTURES}
        write_whole(os.fspath(path), writers | pictures)

    def _write_picture(self, output: Output, ending: str) -> None:
        from .plot import pyplot
        figure, drawn = self.plot(), io.BytesIO()
        figure.savefig(drawn, format=ending[1:])
        pyplot().close(figure)
        output.write(drawn.getvalue())
