"""One row of rollout for many texts of a PyTorch model at once, while the next texts already run."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np
import torch

from ..arrays import NumPyArray
from ..errors import Error
from ..torch.answer import layers_asked
from ..torch.capturing import Capture
from ..torch.padding import is_causal
from ..torch.together import rows_together
from .settings import Settings

LARGEST_ERROR = 1e-3  # how far the sum of a row may be from 1


@dataclass
class Rolled:
    """Rows on their way from a device."""

    rows: torch.Tensor
    copied: Any  # an event, or None if they are there
    lengths: NumPyArray
    places: NumPyArray | None  # the row of each text; None: the mean of all

    def values(self) -> list[NumPyArray] | None:
        """The row of each text; None if something is wrong with one, which then has to run on its own."""
        if self.copied is not None:
            self.copied.synchronize()
        rows = self.rows.numpy()
        found = [row[:length].copy() for row, length in zip(rows, self.lengths)]
        sums = np.array([values.sum(dtype=np.float64) for values in found])
        return found if bool((np.abs(sums - 1) < LARGEST_ERROR).all()) else None  # false for NaN


def roll(seen: Capture, ids: Sequence[Sequence[int]], settings: Settings,
         name_tokens: Callable[[Sequence[int]], list[str]]) -> Rolled | None:
    """Begins the rollout of captured texts, padded on the right, with these ids; None if they have to run one by one."""
    if settings.method != "rollout":
        return None
    lengths = np.array([len(one) for one in ids])
    causal = settings.row is None and is_causal(layers_asked(seen)[1][0], int(lengths.argmax()), None)
    row = settings.row or ("-1" if causal else "0")
    options = settings.engine_options(row)
    real = np.arange(lengths.max()) < lengths[:, None]
    first = np.zeros(real.shape, np.float32)
    places = None
    if row == "mean":
        first[:] = real / lengths[:, None]
    else:
        places = places_of(row, lengths, lambda: [options.rows(name_tokens(one), "") for one in ids])
        if places is None:
            return None
        first[np.arange(len(lengths)), places] = 1
    rows = rows_together(seen, torch.from_numpy(first), torch.from_numpy(real), options)
    return None if rows is None else Rolled(*on_the_way(rows), lengths, places)


def places_of(row: str, lengths: NumPyArray, by_name: Callable[[], list[Any]]) -> NumPyArray | None:
    """The row of each text; None if a text has no such row, or several."""
    if row.lstrip("-").isdigit():
        number = int(row)
        if not -lengths.min() <= number < lengths.min():
            return None
        return np.full(len(lengths), number) if number >= 0 else lengths + number
    try:
        found = by_name()
    except Error:
        return None
    return np.array([rows[0] for rows in found]) if all(len(rows) == 1 for rows in found) else None


def on_the_way(rows: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """The rows on the CPU, and an event after which they are there."""
    if rows.device.type != "cuda":
        return rows.cpu(), None
    there = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
    there.copy_(rows, non_blocking=True)
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record(torch.cuda.current_stream(rows.device))
    return there, event
