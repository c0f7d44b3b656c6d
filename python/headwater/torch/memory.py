"""Batches in pieces that fit: split by the free memory, and halved when it was not enough."""
from __future__ import annotations

from typing import Any, Callable, TypeVar

import torch
from torch import Tensor

from ..errors import Error
from ..kinds import Given

Result = TypeVar("Result")

SIGNS = ("out of memory", "can't allocate memory", "cannot allocate memory", "alloc_failed")


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in SIGNS)


def free_bytes(device: torch.device) -> int:
    """The free memory: for a GPU the driver's and that of torch's cache, for the CPU what Linux reports."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 4 << 30


def with_room(work: Callable[[], Result], make_room: Callable[[], bool], name: str, length: int) -> Result:
    """What `work` returns. If memory runs out, it is done once more after make_room(), where that made any."""
    for again in (False, True):
        try:
            return work()
        except RuntimeError as wrong:
            if not is_out_of_memory(wrong):
                raise
            wrong.__traceback__ = None  # its frames keep the tensors that did not fit alive
            why = str(wrong).partition(".")[0]
        if again or not make_room():
            break
    raise Error(f"{name}: {length} tokens are too many for the GPU's memory ({why}), expected room for matrices of {length} "
                f"x {length}; ask for some rows with `row`, or close what else is on the GPU")


def bytes_of_item(model: torch.nn.Module, length: int) -> int:
    """A guess at the memory that one item of this length takes while the model runs in a capture."""
    config = getattr(model, "config", None)
    wide = int(getattr(config, "hidden_size", 0) or 1024)
    words = int(getattr(config, "vocab_size", 0) or 0)
    return 4 * (length * (40 * wide + 2 * words) + 6 * length * length)


def first_piece(model: torch.nn.Module, items: int, length: int, device: torch.device) -> int:
    """How many items to try at once."""
    return max(1, min(items, free_bytes(device) // 2 // max(1, bytes_of_item(model, length))))


def cut(batch: Given, begin: int, end: int, items: int) -> dict[str, Any]:
    """Items begin ... end - 1 of every tensor in a batch that has `items` of them."""
    return {name: value[begin:end] if isinstance(value, Tensor) and value.ndim and value.shape[0] == items else value
            for name, value in batch.items()}


def in_pieces(items: int, piece: int, work: Callable[[int, int], None]) -> int:
    """Calls work(begin, end) over all items, `piece` at a time. If memory runs out, it halves the piece and tries again.

    `work` must keep its results only once it has succeeded. Returns the size of the last pieces.
    """
    begin = 0
    while begin < items:
        end = min(items, begin + piece)
        try:
            work(begin, end)
        except BaseException as error:
            if not is_out_of_memory(error) or end - begin == 1:
                raise
            piece = max(1, (end - begin) // 2)
            error.__traceback__ = None  # its frames keep the tensors that did not fit alive
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            continue
        begin = end
    return piece
