"""The logarithms of the softmax's sums, which torch's attention computes anyway and sdpa drops.

With them an entry of a map is exp(s - lse), without another pass over all scores. sdpa chooses among its functions and
calls one of those below; this looks on, and has them return what they know.
"""
from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from .kernels import status
from .record import Record

# name: the place of the argument that asks for the sums, None if they always come; they are the second output
FUNCTIONS = {"_scaled_dot_product_flash_attention": None, "_scaled_dot_product_efficient_attention": 4,
             "_scaled_dot_product_cudnn_attention": 4}
WATCHED: dict[Any, int | None] = {getattr(torch.ops.aten, name).default: place for name, place in FUNCTIONS.items()
                                  if hasattr(torch.ops.aten, name)}


class Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees the operations that sdpa becomes."""

    found: Tensor | None = None

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        if func is torch.ops.aten.scaled_dot_product_attention.default:  # a single operation in inference mode
            with self:
                return func.decompose(*args, **(kwargs or {}))
        if func not in WATCHED:
            return func(*args, **(kwargs or {}))
        place = WATCHED[func]
        if place is not None and len(args) > place:
            args = (*args[:place], True, *args[place + 1:])
        out = func(*args, **(kwargs or {}))
        self.found = out[1]
        return out


@contextmanager
def kept_by(record: Record) -> Iterator[None]:
    """Keeps the sums of an sdpa call in a record of it, if headwater's kernels can use them."""
    query = record.query
    if query is None or not query.is_cuda or torch.compiler.is_compiling() or not status(query.device)[0]:
        yield
        return
    with Watching() as watching:  # type: ignore[no-untyped-call]
        yield
    found = watching.found
    # Soft caps, sinks and position bias are not sdpa's, so these sums are not the map's.
    changed = record.softcap is not None or record.sinks is not None or record.bias is not None
    if found is not None and found.numel() and not changed:
        batch, heads, queries, _ = query.shape
        if found.dtype == torch.float32 and found.shape[:2] == (batch, heads):
            flat = found.detach().reshape(batch, heads, -1)
            record.lse = flat[..., :queries] if flat.shape[-1] >= queries else None
