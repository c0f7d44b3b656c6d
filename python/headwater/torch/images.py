"""Which tokens of a vision-language model are patches of an image, and where in the image they are."""
from __future__ import annotations

import math
from typing import Any, Sequence

import torch
from torch import Tensor

from ..image import ImageTokens
from ..kinds import Given

KINDS = ("image", "video")
# The models whose image tokens are the patches of an image, row by row, and what in their config shrinks the sides of the
# grid. Others put something between rows, add a small picture, or make tokens that belong to no patch (Idefics 2, BLIP-2).
SHRUNK_BY = {"aya_vision": "downsample_factor", "cohere2_vision": "downsample_factor", "deepseek_vl": "", "gemma3": "",
             "idefics3": "scale_factor", "internvl": "downsample_ratio", "janus": "", "llava": "", "paligemma": "",
             "smolvlm": "scale_factor", "vipllava": ""}


def places_of(ids: Tensor | None, told: Sequence[Given], config: Any,
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
        rows = [[j for j, one in enumerate(kept(row, keep)) if one == token] for row, keep in zip(ids.tolist(), real)]
        grids = grids_of(kind, told, config, sum(map(len, rows)))
        for item, positions in enumerate(rows):
            found[item] += split(kind, positions, grids, same_grid(config) if kind == "image" else None)
    return found


def kept(row: list[int], keep: Tensor | None) -> list[int]:
    return row if keep is None else [row[j] for j in keep.tolist()]


def grids_of(kind: str, told: Sequence[Given], config: Any, count: int) -> list[tuple[int, int, int]]:
    """Frames, rows and columns of the tokens of each image, where the model was told (image_grid_thw, or Pixtral's sizes)
    and they add up to the tokens that there are.
    """
    def given(name: str) -> list[list[int]]:
        found = next((one[name] for one in told if name in one), None)
        return [] if found is None else torch.as_tensor(found).reshape(-1, torch.as_tensor(found).shape[-1]).tolist()

    vision = getattr(config, "vision_config", config)
    if kind == "image" and getattr(vision, "model_type", "") == "pixtral":  # with a break after each row
        side = vision.patch_size * int(getattr(config, "spatial_merge_size", 1) or 1)
        grids = [(1, high // side, wide // side) for high, wide in given("image_sizes")]
    else:
        merge = int(getattr(vision, "spatial_merge_size", 1) or 1)
        grids = [(t, h // merge, w // merge) for t, h, w in given(f"{kind}_grid_thw")]
    return grids if sum(map(math.prod, grids)) == count else []


def same_grid(config: Any) -> tuple[int, int] | None:
    """Rows and columns of the tokens of every image, by the config of a model that has as many for each."""
    kind, vision = getattr(config, "model_type", ""), getattr(config, "vision_config", None)
    size, patch = getattr(vision, "image_size", None), getattr(vision, "patch_size", None)
    if kind not in SHRUNK_BY or not size or not patch:
        return None
    (high, wide), (tall, broad) = (one if isinstance(one, (list, tuple)) else (one, one) for one in (size, patch))
    if kind == "gemma3":  # pooled to a square
        side = math.isqrt(config.mm_tokens_per_image)
        return (side, side) if side * side == config.mm_tokens_per_image else None
    by = getattr(config, SHRUNK_BY[kind], 1) or 1
    by = 1 / by if by < 1 else by
    rows, columns = high // tall / by, wide // broad / by
    return (int(rows), int(columns)) if rows == int(rows) and columns == int(columns) else None


def split(kind: str, positions: list[int], grids: list[tuple[int, int, int]],
          each: tuple[int, int] | None) -> list[ImageTokens]:
    """The positions of one item as images. Takes the grids that it uses off the list; `each` is the grid of every image."""
    out: list[ImageTokens] = []
    while positions:
        grid: tuple[int, ...] | None = None
        if grids and math.prod(grids[0]) <= len(positions):
            grid = grids.pop(0)
            size = math.prod(grid)
        else:
            size = next((k for k in range(1, len(positions)) if positions[k] != positions[k - 1] + 1), len(positions))
            if each is not None and size % math.prod(each) == 0:
                grid, size = (1, *each), math.prod(each)
        out.append(ImageTokens(kind, len(out), positions[:size], grid))
        positions = positions[size:]
    return out
