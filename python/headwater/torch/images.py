"""Which tokens of a vision-language model are patches of an image, and where in the image they are."""
from __future__ import annotations

import math
from typing import Any, Sequence

from torch import Tensor

from ..image import ImageTokens

KINDS = ("image", "video")
COUNTS = ("mm_tokens_per_image", "image_seq_length", "image_seq_len", "num_image_tokens")  # tokens of every image


def places_of(ids: Tensor | None, told: Sequence[dict[str, Any]], config: Any,
              real: Sequence[Tensor | None]) -> list[list[ImageTokens]]:
    """The images of each item, by the positions that are left without padding."""
    if ids is None or config is None:
        return [[] for _ in real]
    found: list[list[ImageTokens]] = [[] for _ in real]
    for kind in KINDS:
        token = getattr(config, f"{kind}_token_id", None)
        token = getattr(config, f"{kind}_token_index", None) if token is None else token
        if token is None:
            continue
        grids = grids_of(kind, told, config)
        for item, row in enumerate(ids.tolist()):
            keep = real[item]
            row = row if keep is None else [row[j] for j in keep.tolist()]
            found[item] += split(kind, [j for j, one in enumerate(row) if one == token], grids, fixed_count(config))
    return found


def grids_of(kind: str, told: Sequence[dict[str, Any]], config: Any) -> list[tuple[int, int, int]]:
    """Frames, rows and columns of the tokens of each image, where the model was told (image_grid_thw)."""
    given = next((one[f"{kind}_grid_thw"] for one in told if f"{kind}_grid_thw" in one), None)
    if given is None:
        return []
    vision = getattr(config, "vision_config", config)
    merge = int(getattr(vision, "spatial_merge_size", 1) or 1)
    return [(int(t), int(h) // merge, int(w) // merge) for t, h, w in given.tolist()]


def fixed_count(config: Any) -> int | None:
    return next((int(count) for name in COUNTS if isinstance(count := getattr(config, name, None), int)), None)


def split(kind: str, positions: list[int], grids: list[tuple[int, int, int]], count: int | None) -> list[ImageTokens]:
    """The positions of one item as images. Takes the grids that it uses off the list."""
    out: list[ImageTokens] = []
    while positions:
        if grids and math.prod(grids[0]) <= len(positions):
            grid: tuple[int, ...] | None = grids.pop(0)
            size = math.prod(grid or ())
        else:
            run = next((k for k in range(1, len(positions)) if positions[k] != positions[k - 1] + 1), len(positions))
            size = count if count and run % count == 0 else run
            side = math.isqrt(size)
            grid = (1, side, side) if side * side == size else None
        out.append(ImageTokens(kind, len(out), positions[:size], grid))
        positions = positions[size:]
    return out
