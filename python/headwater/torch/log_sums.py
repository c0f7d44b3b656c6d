"""The logarithms of the softmax's sums, which torch's attention computes anyway and sdpa drops.

With them an entry of a map is exp(s - lse), without another pass over all scores. sdpa chooses among its functions and
calls one of those below. Where nothing has to be prepared for that function, the same choice is made here, and the same
function called: the same bits, and the sums with them. Elsewhere a dispatch mode looks on, and has the function return
what it knows; that costs a short text much of Python's time.
"""
from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from .by_hand import inside
from .kernels import status
from .record import Record

# name: the place of the argument that asks for the sums, None if they always come; they are the second output
FUNCTIONS = {"_scaled_dot_product_flash_attention": None, "_scaled_dot_product_efficient_attention": 4,
             "_scaled_dot_product_cudnn_attention": 4}
WATCHED: dict[Any, int | None] = {getattr(torch.ops.aten, name).default: place for name, place in FUNCTIONS.items()
                                  if hasattr(torch.ops.aten, name)}
OPERATIONS: Any = torch  # also those that are not in its documents
SDPA: Any = getattr(torch._C, "_nn").scaled_dot_product_attention
LEAST_ROOM = 8  # numbers: sdpa pads heads that are no multiple of it
here = threading.local()  # .asking: the Asking of this thread, if an attention function runs that is asked for its sums


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


def with_sums(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None,
              grouped: bool) -> tuple[Tensor, Tensor] | None:
    """sdpa's output without a mask, and the sums; None if it would call a function that keeps none."""
    choice = OPERATIONS._fused_sdp_choice(query, key, value, None, dropout, causal, scale=scale, enable_gqa=grouped)
    function = CHOICES.get(choice)
    if function is None:
        return None
    out: tuple[Tensor, Tensor] = function(query, key, value, dropout, causal, scale)[:2]
    return out


def by_flash(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None) -> Any:
    return OPERATIONS._scaled_dot_product_flash_attention(query, key, value, dropout, causal, False, scale=scale)


def by_efficient(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None) -> Any:
    return OPERATIONS._scaled_dot_product_efficient_attention(query, key, value, None, True, dropout, causal, scale=scale)


def by_cudnn(query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None) -> Any:
    return OPERATIONS._scaled_dot_product_cudnn_attention(query, key, value, None, True, dropout, causal, False, scale=scale)


BACKENDS: Any = getattr(torch._C, "_SDPBackend")
CHOICES: dict[int, Any] = {BACKENDS.FLASH_ATTENTION.value: by_flash, BACKENDS.EFFICIENT_ATTENTION.value: by_efficient,
                           BACKENDS.CUDNN_ATTENTION.value: by_cudnn}


def fits(record: Record, value: Tensor) -> bool:
    """Whether sdpa hands queries, keys and values on as they are, so that with_sums() calls what it would call. Under
    autocast it would turn them into half precision.
    """
    query, key = record.q, record.k
    return type(query) is type(key) is type(value) is Tensor and record.mask is None and not query.requires_grad and \
        not (key.requires_grad or value.requires_grad) and query.shape[-1] % LEAST_ROOM == 0 and \
        value.shape[-1] % LEAST_ROOM == 0 and torch._C._len_torch_function_stack() == inside.watches and \
        not torch.is_autocast_enabled(query.device.type)


class Asking:
    """`with Asking(record, value, watched)` around an attention function: the record keeps the sums of the sdpa in it, if
    headwater's kernels can use them.

    `watched`: sdpa is patch.attention, which answers for itself where `direct` is set.
    """

    def __init__(self, record: Record, value: Tensor, watched: bool):
        self.record, self.found, self.mode = record, None, None
        self.direct = False
        query = record.query
        # Soft caps, sinks and position bias are not sdpa's, so these sums are not the map's.
        if query is None or record.softcap is not None or record.sinks is not None or record.bias is not None or \
                not on_cuda(query) or torch.compiler.is_compiling() or not status(query.device)[0]:
            return
        self.direct = watched and fits(record, value)
        if not self.direct:
            self.mode = Watching()  # type: ignore[no-untyped-call]

    found: Tensor | None
    mode: Watching | None

    def attend(self, query: Tensor, key: Tensor, value: Tensor, dropout: float, causal: bool, scale: float | None,
               grouped: bool) -> Tensor | None:
        """What sdpa would return; None if sdpa must be called."""
        both = with_sums(query, key, value, dropout, causal, scale, grouped)
        if both is None:
            return None
        out, self.found = both
        return out

    def __enter__(self) -> None:
        if self.direct:
            here.asking = self
        elif self.mode is not None:
            self.mode.__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.direct:
            here.asking = None
        elif self.mode is not None:
            self.mode.__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
            self.found = self.mode.found
        if self.found is not None and error is None:
            keep(self.record, self.found)


def on_cuda(tensor: Tensor) -> bool:
    return tensor.is_cuda


def keep(record: Record, found: Tensor) -> None:
    """Gives a record its sums, [B, H, Q], where they are such."""
    batch, heads, queries, _ = record.q.shape
    if not found.numel() or found.dtype != torch.float32 or found.shape[:2] != (batch, heads):
        return
    found = found.detach()
    if found.ndim == 4 and found.shape[3] == 1:
        found = found.squeeze(-1)
    if found.shape != (batch, heads, queries):
        flat = found.reshape(batch, heads, -1)
        if flat.shape[-1] < queries:
            return
        found = flat[..., :queries]
    record.lse = found
