"""Results that are put together in Python: written by their ending, as the engine writes its own."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._engine import Error

ENDINGS = (".json", ".npy", ".npz", ".png", ".svg", ".pdf")


class Saved:
    """`.save(path)` for a class with `to_json()`, `arrays()` (the first is what .npy holds) and `plot()`."""

    def arrays(self) -> dict[str, np.ndarray]:
        raise NotImplementedError

    def to_json(self) -> str:
        raise NotImplementedError

    def plot(self) -> Any:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json .npy .npz .png .svg or .pdf, by the ending; pictures need matplotlib."""
        path = os.fspath(path)
        folder, ending = os.path.dirname(path) or ".", os.path.splitext(path)[1]
        if ending not in ENDINGS:
            raise Error(f"{path}: no format has the ending '{ending}'; expected one of {', '.join(ENDINGS)}")
        if not os.path.isdir(folder):
            raise Error(f"{path}: the folder '{folder}' is not there, expected a folder to write in; make it first")
        # Beside the place, then into it: what was there stays until the new file is whole.
        part = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}{ending}")
        try:
            self._write(part, ending)
            os.replace(part, path)
        except OSError as error:
            raise Error(f"{path}: cannot be written, {error.strerror or error}; check the place") from None
        finally:
            if os.path.exists(part):
                os.remove(part)

    def _write(self, path: str, ending: str) -> None:
        if ending == ".json":
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.to_json() + "\n")
        elif ending == ".npy":
            np.save(path, next(iter(self.arrays().values())))
        elif ending == ".npz":
            np.savez(path, **self.arrays())
        else:
            figure = self.plot()
            figure.savefig(path)
            from .plot import pyplot
            pyplot().close(figure)
