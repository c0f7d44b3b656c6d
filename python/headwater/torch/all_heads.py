"""Every head of a captured model, one layer at a time: heads x n x n of one layer, never of all."""
from __future__ import annotations

import os
import zipfile
from typing import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from ..errors import Error
from ..saved import Output, write_whole
from .answer import Answer
from .passing_on import PassingOn


def each_layer(found: Answer, item: int) -> Iterator[tuple[int, Tensor]]:
    """(layer, [H, n, n] float32) of an item."""
    keep, n = found.real[item], len(found.tokens[item])
    if not n:
        raise Error(f"{found.name}: item {item} is all padding, expected a token; leave it out")
    for layer, record in enumerate(found.records):
        if record.weights is not None and not isinstance(record, PassingOn):
            raise Error(f"{found.layers[layer]}: its heads were fused as they arrived, expected queries and keys; "
                        "capture with keep='inputs', and not with how='eager'")
        rows = [record.map(item, f"head:{head}", range(n), keep, keep, found.nan) for head in range(record.heads)]
        yield layer, torch.stack(rows)


def stream(layers: Iterator[tuple[int, Tensor]], into: Callable[[int, Tensor], None] | str | os.PathLike[str],
           tokens: list[str]) -> None:
    """Sends each layer to a function, or to a .npz file."""
    if callable(into):
        for layer, heads in layers:
            into(layer, heads)
        return

    def write(output: Output) -> None:
        with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
            for layer, heads in layers:
                with archive.open(f"layer_{layer}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.ascontiguousarray(heads.cpu().numpy()))
            with archive.open("tokens.npy", "w") as file:
                np.lib.format.write_array(file, np.array(tokens))

    write_whole(os.fspath(into), {".npz": write})
