"""headwater's own kernels on NVIDIA's GPUs: whether they run, and one layer of a record as they take it.

The kernels come as text and are compiled for the chip that is there, by NVRTC, which PyTorch brings. Without a driver,
NVRTC or a chip that they fit, torch.py's own operations serve.
"""
from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from .. import _engine
from ..errors import Error
from .blocks import Positions, counted_head
from .pairs import Pairs
from .places import number_of, stream_of
from .passing_on import PassingOn
from .record import Record

NUMBERS = {torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float32: "float32", torch.bool: "bool"}
Heads3 = tuple[int, int, int]
LARGEST_HEAD = 512  # bytes: more do not fit into shared memory

_allowed = True
# Device, type and head size for which a kernel could not be compiled or started, and why.
_refused: dict[tuple[int, torch.dtype, int], str] = {}


def allow(yes: bool) -> bool:
    """Lets the kernels run, or torch alone, for comparisons. Returns what held before."""
    global _allowed
    before, _allowed = _allowed, yes
    return before


def compiler_paths() -> list[str]:
    """NVRTC as PyTorch's wheels bring it: in a package of NVIDIA's, or beside PyTorch's own libraries."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec is not None else []
    found = [path for folder in folders for path in sorted(folder.glob("*/lib/libnvrtc.so.*"), reverse=True)]
    found += sorted((Path(torch.__file__).parent / "lib").glob("libnvrtc*.so*"))
    major = (torch.version.cuda or "").split(".")[0]
    named = [path for path in found if "builtins" not in path.name and ".alt." not in path.name]
    return [str(path) for path in sorted(named, key=lambda path: f".so.{major}" not in path.name)]


@lru_cache
def _status(device: int) -> tuple[bool, str]:
    if torch.version.cuda is None:
        return False, "PyTorch was built without CUDA"
    _engine.cuda_look_for_compiler(compiler_paths())
    return _engine.cuda_status(device)


def status(device: torch.device) -> tuple[bool, str]:
    """Whether the kernels run on a device, with what runs or why not."""
    if device.type != "cuda":
        return False, f"the tensors are on {device.type}, expected cuda"
    if not _allowed:
        return False, "headwater's kernels are switched off"
    return _status(number_of(device))


def kind_of(record: Record) -> tuple[int, torch.dtype, int]:
    assert record.query is not None
    return number_of(record.device), record.query.dtype, record.query.shape[-1]


def refuse(record: Record, why: Error) -> None:
    """From now on torch computes records like this one: a kernel for it could not be compiled or started."""
    _refused[kind_of(record)] = str(why)


def info() -> dict[str, str]:
    """Whose kernels run on the first GPU, and why."""
    if not torch.cuda.is_available():
        return {"kernels": "none", "why": "PyTorch sees no CUDA device"}
    ready, why = status(torch.device("cuda", 0))
    return {"kernels": "headwater" if ready else "torch", "why": "; but ".join([why, *_refused.values()])}


def serves(record: Record) -> bool:
    """Whether the kernels support a record: self attention that kept its queries and keys."""
    query, key = record.query, record.key
    if isinstance(record, PassingOn) or query is None or key is None or record.weights is not None:
        return False
    if query.dtype not in NUMBERS or key.dtype != query.dtype or query.shape[-1] * query.element_size() > LARGEST_HEAD:
        return False
    if record.queries != record.keys or record.first or record.heads % key.shape[1]:
        return False
    if any(one is not None and (one.ndim != 4 or one.dtype not in NUMBERS) for one in (record.mask, record.bias)):
        return False
    return status(record.device)[0] and kind_of(record) not in _refused


def sums_to_one(record: Record) -> bool:
    """Whether the kernels support a record, and the rows of its maps sum to 1."""
    return serves(record) and record.sinks is None


def multiplies_pairs(device: torch.device) -> bool:
    """Whether the kernels multiply maps on a device that they run on."""
    return _engine.cuda_multiplies_pairs(number_of(device))


def rows_of(heads: Tensor, item: int, real: Positions) -> tuple[Tensor, Heads3]:
    """An item's [H, n, d] of the real positions, as what keeps it alive, and as (address, strides of heads and rows).

    Without a copy where they lie side by side, as in most padded batches. Without views where nothing is left out: each
    costs as much time as a small kernel.
    """
    if real is None and heads.stride(-1) == 1:
        items, each, row, _ = heads.stride()
        return heads, (heads.data_ptr() + item * items * heads.element_size(), each, row)
    heads = heads[item].detach()
    if real is not None:
        first, count = int(real[0]), len(real)
        beside = int(real[-1]) - first + 1 == count
        heads = heads[:, first:first + count] if beside else heads[:, real]
    heads = heads if heads.stride(-1) == 1 else heads.contiguous()
    return heads, (heads.data_ptr(), heads.stride(0), heads.stride(1))


def as_added(added: Tensor, item: int, real: Positions) -> tuple[Tensor, tuple[int, str, int, int, int]]:
    """A mask or a bias of an item, [H or 1, Q or 1, K], and how the kernels are told of it."""
    part = added[item if added.shape[0] > 1 else 0].detach()
    if real is not None:
        part = (part[:, real] if part.shape[1] > 1 else part)[..., real]
    heads, queries, keys = (0 if size == 1 else step for size, step in zip(part.shape, part.stride()))
    return part, (part.data_ptr(), NUMBERS[part.dtype], heads, queries, keys)


class Layer:
    """One item of a record, for the kernels."""

    def __init__(self, record: Record, item: int, real: Positions):
        plain, causal, window = record.sight(item, real, real)
        if not plain:
            causal, window = (record.causal, record.window) if record.mask is None else (False, 0)
        self._begin(record, item, real, causal, window, [] if plain else ["mask", "bias"])
        # The forward pass's sums are over the same keys if nothing is left out, or only what no row sees.
        prefix = real is None or causal and plain and int(real[-1]) + 1 == len(real)
        self._given = record.lse[item, :, :self.n] if record.lse is not None and prefix else None

    def _begin(self, record: Record, item: int, real: Positions, causal: bool, window: int, added: list[str]) -> None:
        self.record, self.causal, self.window = record, causal, window
        (query, queries), (key, keys) = rows_of(record.q, item, real), rows_of(record.k, item, real)
        self.heads, self.n, size = query.shape[-3:]
        number = number_of(record.device)
        self._call = _engine.CudaLayer(number, stream_of(number), NUMBERS[query.dtype], queries, keys, self.heads,
                                       key.shape[-3], self.n, self.n, size, float(record.scale), causal, window, 0)
        self._alive: list[Tensor] = [query, key]
        self._items: tuple[int, ...] = ()  # the axis of a batch, which comes before all others
        self._lse: Tensor | None = None
        if record.softcap is not None:
            self._call.cap(float(record.softcap))
        for name in added:
            tensor = getattr(record, name)
            if tensor is not None:
                part, told = as_added(tensor, item, real)
                self._alive.append(part)
                getattr(self._call, name)(told)
        if record.sinks is not None:
            self._sinks = record.sinks.detach().float().contiguous()
            self._call.sinks(self._sinks.data_ptr())

    def lse(self, given: bool) -> Tensor:
        """log sum_j exp(s_hij), [H, n]: the forward pass's where `given` and there is one, else from one more pass."""
        if self._lse is None:
            if given and self._given is not None:
                self._lse = self._given.contiguous()
            else:
                self._lse = torch.empty(*self._items, self.heads, self.n, device=self.record.device)
                self._call.log_sum_exp(self._lse.data_ptr())
        return self._lse

    def times(self, weights: Tensor, fuse: str, begin: int, end: int, given: bool = True,
              residual: float = 0.0) -> Tensor:
        """weights [R, n] float32 times (1 - residual) map + residual identity, [R, n].

        Only queries begin ... end - 1 have weights.
        """
        lse, most, made = self.lse(given), _engine.cuda_most_rows, []
        for some in [weights] if weights.shape[-2] <= most else torch.split(weights, most, -2):
            some, count = some.contiguous(), some.shape[-2]
            out = torch.empty_like(some)
            parts = torch.empty(self._call.splits(fuse, count) * some.numel(), device=some.device)
            self._call.through(fuse, lse.data_ptr(), count, some.data_ptr(), begin, end, parts.data_ptr(), residual,
                               out.data_ptr())
            made.append(out)
        return made[0] if len(made) == 1 else torch.cat(made, -2)

    def map(self, fuse: str, rows: range, given: bool = True, residual: float = 0.0) -> Tensor:
        """Some rows of (1 - residual) map + residual identity, [rows, n] float32."""
        out = torch.empty(*self._items, len(rows), self.n, device=self.record.device)
        self._call.map(fuse, self.lse(given).data_ptr(), rows.start, rows.stop, residual, out.data_ptr())
        return out

    def map_pairs(self, fuse: str, rows: range, columns: int, residual: float, given: bool, out: Pairs) -> None:
        """Some rows of (1 - residual) map + residual identity, their first columns, as pairs."""
        self._call.map_pairs(fuse, self.lse(given).data_ptr(), rows.start, rows.stop, columns, residual, out.told)

    def refuse(self, why: Error) -> None:
        refuse(self.record, why)

    def row_sums(self, fuse: str, given: bool = True) -> Tensor | None:
        """The sum of each row of the fused map, [n]; None where all are 1."""
        if fuse in ("max", "min"):
            out = torch.empty(self.n, device=self.record.device)
            self._call.row_sums(fuse, self.lse(given).data_ptr(), out.data_ptr())
            return out
        if self.record.sinks is None:
            return None
        left = 1 - torch.exp(self._sinks[:, None] - self.lse(given))
        return left.mean(0) if fuse == "mean" else left[int(fuse[5:])]


class Batch(Layer):
    """Some items of a record at once, at their padded length: weights, maps and rows get an axis of items before theirs.
    The rows of `padding` [items, n] are 0: they may see nothing, and what they give then is not a number.
    """

    def __init__(self, record: Record, items: range, padding: Tensor | None):
        causal, window = (record.causal, record.window) if record.mask is None else (False, 0)
        self._begin(record, items.start, None, causal, window, ["mask", "bias"])
        steps = [0 if one is None or one.shape[0] == 1 else one.stride(0) * one.element_size()
                 for one in (record.q, record.k, record.mask, record.bias)]
        self._call.batch(len(items), (steps[0], steps[1], steps[2], steps[3]))
        self._items = (len(items),)
        self._given = None if record.lse is None else record.lse[items.start:items.stop]
        self._padding = padding

    def lse(self, given: bool) -> Tensor:
        before, lse = self._lse, super().lse(given)
        if before is None and self._padding is not None:
            self._lse = lse = lse.masked_fill(self._padding[:, None], torch.inf)  # exp(s - inf) is 0
        return lse


def lies_as_a_batch(record: Record) -> bool:
    """Whether the kernels take several items of a record that they support at once.

    Queries and keys in the host's memory are not fetched to find out: there, `query` has no strides.
    """
    query, key = record.query, record.key
    return query is not None and key is not None and query.stride(-1) == 1 == key.stride(-1)


def map_of(record: Record, item: int, fuse: str, rows: range, real: Positions) -> Tensor | None:
    """Some rows of a record's fused map, [rows, n] float32; None if torch must make them.

    A few rows are not worth the pass for the sums of all rows. Sums of the forward pass are believed where rows of the
    map show that they are right: those of a mean sum to 1.
    """
    if not rows or not serves(record) or record.lse is None and len(rows) < record.queries // 2:
        return None
    fuse = counted_head(fuse, record.heads)
    believed = record.lse is not None and fuse not in ("max", "min")
    try:
        made = Layer(record, item, real).map(fuse, rows, believed)
        if believed and not bool(((made.sum(-1) - 1).abs() < 1e-3).all()):
            made = Layer(record, item, real).map(fuse, rows, False)
        return made
    except Error as wrong:
        refuse(record, wrong)
        return None
