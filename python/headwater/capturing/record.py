"""One call of an attention function as a capture keeps it, and its fused map in blocks.

    scores = scale Q K^T;  softcap: c tanh(scores / c);  plus position bias;  plus mask
    probabilities = softmax(scores), with a sink s_h: over scores and s_h, whose share is dropped

Q and K are kept as the model made them, without a copy; a map is made of them when a method asks, some rows and heads
at a time, so that heads x n x n never exists.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Iterator

import torch

from .. import _engine
from ..products import float_product

# Probabilities that exist at a time: on a GPU enough that launches do not count, on the CPU what caches hold.
BLOCK_NUMBERS = {"cuda": 1 << 25, "cpu": 1 << 22}
LEAST_ROWS = 64  # of a block: fewer make poor matrix products


@dataclass
class Record:
    """One attention call: query [B, H, Q, d], key [B, G, K, d]; or `weights`, the heads fused already."""

    name: str
    query: Any = None
    key: Any = None
    scale: float = 1.0
    causal: bool = False  # a query at position i sees keys up to first + i
    first: int = 0
    window: int = 0  # of these, the last `window`
    mask: Any = None  # boolean (True is seen) or added to the scores; [B or 1, H or 1, Q or 1, K]
    softcap: float | None = None
    bias: Any = None  # added to the scores, [B or 1, H, Q, K]
    sinks: Any = None  # [H]
    value: Any = None  # with `out`, where gradients are on
    out: Any = None
    heads_last: bool = True  # out is [B, Q, H, d], else [B, H, Q, d]
    dropout: float = 0.0
    mean: Any = None  # [B, Q, K] float32, the heads' mean, where it was made along with the model's own output
    weights: Any = None  # [B, Q, K] float32, fused by `fuse`
    fuse: str = ""
    heads_of_weights: int = 1
    sights: dict[Any, Any] = field(default_factory=dict)  # of masks, shared by all records of a pass

    @property
    def batch(self) -> int:
        return (self.query if self.query is not None else self.weights).shape[0]

    @property
    def heads(self) -> int:
        return self.query.shape[1] if self.query is not None else self.heads_of_weights

    @property
    def queries(self) -> int:
        return (self.query if self.query is not None else self.weights).shape[-2]

    @property
    def keys(self) -> int:
        return self.key.shape[-2] if self.key is not None else self.weights.shape[-1]

    @property
    def device(self) -> Any:
        return (self.query if self.query is not None else self.weights).device

    @property
    def is_half(self) -> bool:
        """Whether its numbers were made of half precision."""
        return self.query is not None and self.query.dtype.itemsize < 4

    @property
    def _block_numbers(self) -> int:
        return BLOCK_NUMBERS.get(self.device.type, BLOCK_NUMBERS["cuda"])

    # -- which keys a query sees, in one word where there is one

    def sight(self, item: int, real: Any, real_keys: Any) -> tuple[bool, bool, int]:
        """(plain, causal, window): whether causal and window say it all for the real positions."""
        if self.bias is not None or self.softcap is not None or self.sinks is not None:
            return False, False, 0
        if self.mask is None:
            return True, self.causal, self.window
        if self.mask.ndim != 4 or self.mask.shape[1] != 1:
            return False, False, 0
        key = (id(self.mask), item, id(real))
        if key not in self.sights:
            self.sights[key] = (self._sight(item, real, real_keys), self.mask)  # the mask lives as long as its id
        return self.sights[key][0]

    def looks_back(self, item: int, real: Any) -> bool:
        """Whether the map of an item is lower triangular, as far as one word says it."""
        if self.query is None or self.queries != self.keys or self.first:
            return False
        plain, causal, _ = self.sight(item, real, real)
        return plain and causal

    def _sight(self, item: int, real: Any, real_keys: Any) -> tuple[bool, bool, int]:
        mask = self.mask[item if self.mask.shape[0] > 1 else 0, 0]
        if mask.dtype != torch.bool:
            seen = mask == 0
            if not bool((seen | (mask < -1e4)).all()):
                return False, False, 0
            mask = seen
        mask = mask.expand(self.queries, self.keys)
        if real is not None:
            mask = mask[real]
        if real_keys is not None:
            mask = mask[:, real_keys]
        if bool(mask.all()):
            return True, False, 0
        rows, columns = mask.shape
        if rows != columns:
            return False, False, 0
        i, j = torch.arange(rows, device=mask.device)[:, None], torch.arange(columns, device=mask.device)
        window = int(mask[-1].sum())
        band = (j <= i) & (j > i - window)
        if not torch.equal(mask, band):
            return False, False, 0
        return True, True, 0 if window == columns else window

    # -- maps

    def map(self, item: int, fuse: str, rows: Any, real: Any, real_keys: Any) -> Any:
        """[count, keys] float32 of an item: real rows number `rows` (a range), real keys; on the record's device."""
        if self.weights is not None:
            return self._given(item, fuse, rows, real, real_keys)
        if self.mean is not None and fuse == "mean" and real is None and real_keys is None:
            # NumPy's copy: torch's waits, in a child of fork(), for threads that are not there.
            return torch.from_numpy(self.mean[item, rows.start:rows.stop].numpy().copy())
        plain, causal, window = self.sight(item, real, real_keys)
        if plain and self.device.type == "cpu":
            return self._by_engine(item, fuse, rows, real, real_keys, causal, window)
        return self._by_blocks(item, fuse, rows, real, real_keys)

    def _by_blocks(self, item: int, fuse: str, rows: Any, real: Any, real_keys: Any) -> Any:
        out = torch.zeros(len(rows), self.keys if real_keys is None else len(real_keys), device=self.device)
        begun: set[int] = set()
        heads = heads_of(fuse, self.heads)
        for some, block in self.probabilities(item, rows, real, real_keys, heads):
            target = block.of(out)
            if len(some) == len(heads) and (fuse == "mean" or len(heads) == 1):
                torch.sum(block.values, 0, out=target)
            elif fuse == "mean":
                target += block.values.sum(0)
            elif fuse == "max":
                torch.maximum(target, block.values.amax(0), out=target)  # nothing is below 0
            else:
                piece = block.values.amin(0)
                target.copy_(torch.minimum(target, piece) if block.first in begun else piece)
            begun.add(block.first)
        return out.div_(self.heads) if fuse == "mean" else out

    def maps(self) -> Any:
        """The mean over heads of all items at their padded length, [B, Q, K] float32; several items at a time."""
        if self.weights is not None:
            return self.weights.clone()
        if self.mean is not None:
            return self.mean.clone()
        many = self._block_numbers // max(1, self.heads * self.queries * self.keys)
        if many < 2:
            return torch.stack([self.map(item, "mean", range(self.queries), None, None) for item in range(self.batch)])
        out = torch.empty(self.batch, self.queries, self.keys, device=self.device)
        rows, heads = range(self.queries), range(self.heads)
        for first in range(0, self.batch, many):
            items = slice(first, min(first + many, self.batch))
            query, key = self.query[items].detach(), self.key[items].detach()
            scores = products(query.flatten(0, 1), key.flatten(0, 1), range(query.shape[0] * self.heads),
                              self.heads // self.key.shape[1]).mul_(self.scale)
            crop = Crop(items, heads, rows, slice(None), 0, self.keys, None)
            scores = scores.view(-1, self.heads, self.queries, self.keys)
            torch.mean(self._softmax(scores, crop, (False, False, 0)), 1, out=out[items])
        return out

    def _given(self, item: int, fuse: str, rows: Any, real: Any, real_keys: Any) -> Any:
        if fuse != self.fuse:
            raise _engine.Error(f"capture: its heads were fused by {self.fuse} as they arrived, expected "
                                f"{self.fuse}, not {fuse}; capture with fuse='{fuse}'")
        map = self.weights[item]
        map = map[real[rows.start:rows.stop] if real is not None else slice(rows.start, rows.stop)]
        return map[:, real_keys] if real_keys is not None else map.clone()

    def _by_engine(self, item: int, fuse: str, rows: Any, real: Any, real_keys: Any, causal: bool, window: int) -> Any:
        query, key = self.query[item], self.key[item]
        query = query[:, real[rows.start:rows.stop]] if real is not None else query[:, rows.start:rows.stop]
        if real_keys is not None:
            key = key[:, real_keys]
        elif self.mask is None and causal and self.keys > self.first + self.queries:
            key = key[:, :self.first + self.queries]
        query = query.detach().float().transpose(0, 1).reshape(query.shape[1], -1)
        key = key.detach().float().transpose(0, 1).reshape(key.shape[1], -1)
        out = torch.empty(query.shape[0], key.shape[0])
        _engine.attention_map(query, key, out, self.heads, self.key.shape[1], float(self.scale), causal, window,
                              self.first + rows.start, fuse)
        return out

    def probabilities(self, item: int, rows: Any, real: Any, real_keys: Any,
                      heads: range) -> Iterator[tuple[range, Block]]:
        """(heads, their probabilities) in blocks: some rows, some heads, the keys that any of these rows sees."""
        key = self.key[item].detach()
        key = key if real_keys is None else key[:, real_keys]
        key = key.float() if key.device.type == "cpu" else key
        columns = key.shape[1]
        sight = self.sight(item, real, real_keys)
        numbers = self._block_numbers
        height = max(1, min(len(rows), max(LEAST_ROWS, numbers // max(1, columns * len(heads)))))
        width = max(1, numbers // (height * max(columns, 1)))
        group = self.heads // self.key.shape[1]
        width = width - width % group if width > group else width
        for first in range(0, len(rows), height):
            some_rows = range(rows.start + first, rows.start + min(first + height, len(rows)))
            low, high = self._seen(sight, some_rows, columns)
            which = slice(some_rows.start, some_rows.stop) if real is None else real[some_rows.start:some_rows.stop]
            for begin in range(heads.start, heads.stop, width):
                some = range(begin, min(begin + width, heads.stop))
                query = self.query[item, begin:some.stop].detach()[:, which]
                scores = products(query, key[:, low:high], some, group).mul_(self.scale)
                crop = Crop(item, some, some_rows, which, low, high, real_keys)
                yield some, Block(self._softmax(scores, crop, sight), first, len(some_rows), low)

    def _seen(self, sight: tuple[bool, bool, int], rows: range, columns: int) -> tuple[int, int]:
        """The keys low ... high - 1, of which these rows see some; all, where a mask decides."""
        plain, causal, window = sight
        if not plain or not causal:
            return 0, columns
        first = self.first if self.mask is None else 0
        low = max(0, first + rows.start - window + 1) if window else 0
        return min(low, columns - 1), max(1, min(columns, first + rows.stop))

    def _softmax(self, scores: Any, crop: Crop, sight: tuple[bool, bool, int]) -> Any:
        """[..., h, r, keys] scores to probabilities."""
        if self.softcap is not None:
            scores = torch.tanh(scores.div_(self.softcap)).mul_(self.softcap)
        plain, causal, window = sight
        for added in (self.bias, None if plain else self.mask):
            if added is not None:
                scores = crop.add(scores, added)
        if plain or self.mask is None:
            self._look_back(scores, crop, *(sight[1:] if plain else (self.causal, self.window)))
        if self.sinks is None:
            return torch.softmax(scores, -1)
        sink = self.sinks[crop.heads.start:crop.heads.stop].detach().float().view(-1, 1, 1)
        top = torch.maximum(scores.amax(-1, keepdim=True), sink)
        scores = scores.sub_(top).exp_()
        return scores.div_(scores.sum(-1, keepdim=True) + (sink - top).exp())

    def _look_back(self, scores: Any, crop: Crop, causal: bool, window: int) -> None:
        """Takes away the keys that lie behind a row, or too far before it."""
        if not causal and not window:
            return
        first = (self.first if self.mask is None else 0) + crop.rows.start
        # Without a window, all rows see what lies before the first of them.
        begin = crop.low if window else max(crop.low, min(crop.high, first))
        unseen = behind(len(crop.rows), crop.high - begin, first - begin, causal, window, scores.device)
        scores[..., begin - crop.low:].masked_fill_(unseen, float("-inf"))


@lru_cache(maxsize=8)
def behind(rows: int, columns: int, first: int, causal: bool, window: int, device: Any) -> Any:
    """[rows, columns], true where column j is out of sight of row i, which stands at column first + i."""
    place = torch.arange(first, first + rows, device=device)[:, None]
    column = torch.arange(columns, device=device)
    unseen = column > place if causal else column >= place + window
    return unseen | (column <= place - window) if window else unseen


@dataclass
class Block:
    """Probabilities [h, r, keys] float32 of rows first ... first + count - 1, of keys low ... low + keys - 1."""

    values: Any
    first: int
    count: int
    low: int

    def of(self, matrix: Any) -> Any:
        """The part of a [rows, keys] matrix that it covers."""
        return matrix[self.first:self.first + self.count, self.low:self.low + self.values.shape[-1]]


@dataclass
class Crop:
    """Which part of [B, H, Q, K] a block of scores is."""

    item: int | slice
    heads: range
    rows: range
    which: Any  # the rows among all positions
    low: int
    high: int
    real_keys: Any

    def add(self, scores: Any, added: Any) -> Any:
        """Scores with a mask or a bias."""
        part = added[self.item if added.shape[0] > 1 else 0]
        part = part[..., self.heads.start:self.heads.stop, :, :] if part.shape[-3] > 1 else part
        part = part[..., self.which, :] if part.shape[-2] > 1 else part
        part = part if self.real_keys is None else part[..., self.real_keys]
        part = part[..., self.low:self.high]
        if part.dtype == torch.bool:
            return scores.masked_fill_(~part, float("-inf"))
        return scores.add_(part.detach())


def products(query: Any, key: Any, heads: range, group: int) -> Any:
    """Q K^T [h, r, keys] float32 of query [h, r, d] and all key heads [G, keys, d]."""
    count, rows, _ = query.shape
    if group > 1 and heads.start % group == 0 and count % group == 0:  # heads of a group share their keys: one product
        query = query.reshape(count // group, group * rows, -1)
        key = key[heads.start // group:heads.stop // group]
    else:
        key = key[[head // group for head in heads]] if group > 1 else key[heads.start:heads.stop]
    return float_product(query, key.transpose(-1, -2)).view(count, rows, -1)


def heads_of(fuse: str, heads: int) -> range:
    if not fuse.startswith("head:"):
        return range(heads)
    head = int(fuse[5:])
    if not -heads <= head < heads:
        raise _engine.Error(f"capture: has no head {head}, expected 0 to {heads - 1}; choose another")
    return range(head % heads, head % heads + 1)
