"""Attention on a device as fused maps, made when they are asked for."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Mapping, TypeAlias

import numpy as np
import torch
from torch import Tensor

from .. import _engine
from ..arrays import common_device, is_torch, to_numpy
from ..errors import Error
from ..image import ImageTokens
from ..kinds import Mask, Tokens
from ..protocols import Recorded
from ..source import Attention, from_layers, layers_of, read_words, refuse_capture_words, spread, token_lists
from .blocks import Positions
from .device import fused

if TYPE_CHECKING:
    from .kernels import Layer
    from .rows import Rows as FewRows

SUM_TOLERANCE = 1e-2  # how far the engine lets the sum of a row be from 1
Rows: TypeAlias = Callable[[int, int, str, int, int], Tensor]  # item, layer, fuse, first, count: [count, n] float32
# item, layer, rows, options, whether the map is taken as it is, whether sums of the forward pass may be used
Fold: TypeAlias = Callable[[int, int, "FewRows", Mapping[str, Any], bool, bool], "FewRows | None"]


def never(item: int) -> bool:
    return False


def no_notes(item: int) -> list[str]:
    return []


@dataclass
class Maps:
    """Fused maps of a batch on a device. No more than a few n x n matrices exist at a time."""

    rows: Rows
    tokens: list[list[str]]
    heads: list[int]
    name: str
    device: torch.device
    padded: int
    batch: bool
    lower: Callable[[int], bool] = never  # whether the maps of an item are lower triangular
    coarse: bool = False  # whether the maps come from half precision
    notes: Callable[[int], list[str]] = no_notes  # of an item, once its maps are made
    images: list[list[ImageTokens]] = field(default_factory=list)  # of each item, of a vision-language model
    fold: Fold | None = None  # rows through a layer without its map; returns None where it needs the map
    # Item and layer as headwater's kernels take them, if they can multiply maps; rows of the maps sum to 1, or are NaN.
    kernels: Callable[[int, int], Layer] | None = None
    # Items and layer as they take them, and [items, n] what is padding; where they serve all layers and rows sum to 1.
    batches: Callable[[range, int, Tensor | None], Layer] | None = None
    make_room: Callable[[], bool] = lambda: False  # frees some of the GPU's memory; whether it could
    real: list[Positions] = field(default_factory=list)  # the real positions of each item; empty if all are

    def map(self, item: int, layer: int, fuse: str) -> Tensor:
        return self.rows(item, layer, fuse, 0, len(self.tokens[item]))


def maps_of(attention: Attention, tokens: Tokens | None = None, attention_mask: Mask | None = None, name: str = "memory",
             sums: str = "checked", **asked: Any) -> Maps:
    """Layers on a device, [n, n], [H, n, n] or [B, H, n, n] each. Rows are checked as the engine checks them."""
    if isinstance(attention, Recorded):
        return attention._as_maps(tokens=tokens, attention_mask=attention_mask, **asked)
    refuse_capture_words(asked)
    layers = four_axes(attention, name)
    device = common_device(layers, name)
    assert device is not None, "only layers of torch come here"
    items, n = layers[0].shape[0], layers[0].shape[-1]
    mask = np.ones((items, n), bool) if attention_mask is None else np.broadcast_to(
        to_numpy(attention_mask) != 0, (items, n))
    kept = [torch.as_tensor(np.flatnonzero(real), device=device) for real in mask]
    lists = spread(token_lists(tokens), mask)
    read_words(sums, "error")
    if len(lists) not in (0, 1, items) or any(len(words) != n for words in lists):
        raise Error(f"{name}: its tokens do not fit, expected {n}, one for each position; give those of the same input")
    words = [[(lists[item] if len(lists) > 1 else lists[0] if lists else [str(j) for j in range(n)])[j]
              for j in np.flatnonzero(mask[item])] for item in range(items)]
    checked: set[tuple[int, int]] = set()

    def rows(item: int, layer: int, fuse: str, first: int, count: int) -> Tensor:
        real, heads = kept[item], layers[layer][item]
        if (item, layer) not in checked and suspicious(heads if len(real) == n else heads[:, real][..., real], sums):
            on_host = from_layers([one.cpu() for one in layers], attention_mask=mask.astype(np.float32), sums=sums)
            _engine.raw(on_host.inputs, [item], layer, _engine.Options())  # raises, and names the place
        checked.add((item, layer))
        return fused(heads, fuse)[real[first:first + count]][:, real]

    return Maps(rows, words, [layer.shape[1] for layer in layers], name, device, n, items > 1)


def four_axes(attention: Attention, name: str) -> list[Tensor]:
    """The layers as [B, H, n, n] each."""
    layers = layers_of(attention)
    common_device(layers, name)
    if is_torch(attention) and layers[0].ndim in (3, 4, 5):
        layers = list(layers[0])
    layers = [layer[None, None] if layer.ndim == 2 else layer[None] if layer.ndim == 3 else layer for layer in layers]
    shapes = {(layer.shape[0], *layer.shape[2:]) for layer in layers}
    if len(shapes) > 1 or layers[0].ndim != 4 or layers[0].shape[-1] != layers[0].shape[-2]:
        found = ", ".join(sorted({str(tuple(layer.shape)) for layer in layers}))
        raise Error(f"{name}: has layers of shape {found}, expected [B, H, n, n] with the same B and n; give the "
                    "layers of one input")
    return layers


def suspicious(heads: Tensor, sums: str) -> bool:
    """Whether the engine should check these rows and explain what is wrong with them."""
    found = heads.sum(-1, dtype=torch.float32)
    bad = ~found.isfinite() if sums == "any" else ~((found - 1).abs() <= 0.99 * SUM_TOLERANCE)
    return bool(bad.any()) or bool((heads < 0).any())
