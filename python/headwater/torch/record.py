"""One call of an attention function as a capture keeps it, and its fused map in blocks.

    scores = scale Q K^T;  softcap: c tanh(scores / c);  plus position bias;  plus mask
    probabilities = softmax(scores), with a sink s_h: over scores and s_h, whose share is dropped

Q and K are kept as the model made them, without a copy. A map is computed when a method asks for it, some rows and heads
at a time, so heads x n x n never exists.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence

import torch
from torch import Tensor

from .. import _engine
from ..errors import Error
from .blocks import Block, Crop, Positions, behind, heads_of, mend, products
from .written import are_as_they_were, state_of

# How many probabilities exist at a time: on a GPU enough to hide launches, on the CPU what fits in caches.
BLOCK_NUMBERS = {"cuda": 1 << 25, "cpu": 1 << 22}
LEAST_ROWS = 64  # of a block: fewer make slow matrix products

Sight = tuple[bool, bool, int]  # plain, causal, window


@dataclass
class Record:
    """One attention call: query [B, H, Q, d], key [B, G, K, d]; or `weights`, the heads fused already."""

    name: str
    query: Tensor | None = None
    key: Tensor | None = None
    scale: float = 1.0
    causal: bool = False  # a query at position i sees keys up to first + i
    first: int = 0
    window: int = 0  # of these, the last `window`
    mask: Tensor | None = None  # boolean (True is seen) or added to the scores; [B or 1, H or 1, Q or 1, K]
    softcap: float | None = None
    bias: Tensor | None = None  # added to the scores, [B or 1, H, Q, K]
    sinks: Tensor | None = None  # [H]
    value: Tensor | None = None  # with `out`, if gradients are on
    out: Tensor | None = None
    heads_last: bool = True  # out is [B, Q, H, d], else [B, H, Q, d]
    dropout: float = 0.0
    mean: Tensor | None = None  # [B, Q, K] float32, the mean of the heads, if it came with the model's output
    lse: Tensor | None = None  # [B, H, Q] float32, log sum_j exp(score), if it came with the model's output
    weights: Tensor | None = None  # [B, Q, K] float32, fused by `fuse`
    fuse: str = ""
    heads_of_weights: int = 1
    sights: dict[Any, Any] = field(default_factory=dict)  # of masks, shared by all records of a pass
    is_bare: bool = False  # it has no numbers
    states: list[Any] = field(default_factory=list)  # of the tensors that are kept without a copy, when it was noted

    @property
    def kept(self) -> Tensor:
        """The queries, or the weights of a record without."""
        kept = self.query if self.query is not None else self.weights
        assert kept is not None
        return kept

    @property
    def q(self) -> Tensor:
        """The queries of a record that has them."""
        assert self.query is not None
        return self.query

    @property
    def k(self) -> Tensor:
        """The keys of a record that has them."""
        assert self.key is not None
        return self.key

    @property
    def batch(self) -> int:
        return self.kept.shape[0]

    @property
    def heads(self) -> int:
        return self.query.shape[1] if self.query is not None else self.heads_of_weights

    @property
    def queries(self) -> int:
        return self.kept.shape[-2]

    @property
    def keys(self) -> int:
        return self.k.shape[-2] if self.weights is None else self.weights.shape[-1]

    @property
    def device(self) -> torch.device:
        return self.kept.device

    def leave_cache(self, before: int) -> None:
        """Copies what it needs of a cache that is written in place: `before` positions, and its own."""
        if self.key is None:
            return
        end = before + self.queries
        self.key = self.key[:, :, :end].clone()
        for name in ("mask", "bias"):
            added = getattr(self, name)
            if added is not None and added.shape[-1] > end:
                setattr(self, name, added[..., :end])

    def bare(self) -> Record:
        """What is known about it without its numbers."""
        nothing = torch.zeros((), device=self.device)
        if self.query is None:
            return Record(name=self.name, weights=nothing.expand(self.kept.shape), fuse=self.fuse, is_bare=True)
        return Record(name=self.name, query=nothing.expand(self.q.shape), key=nothing.expand(self.k.shape),
                      mask=self.mask, causal=self.causal, is_bare=True)

    def _borrowed(self) -> list[Tensor | None]:
        return [] if self.query is None else [self.query, self.key, self.mask, self.bias, self.value]

    def noted(self) -> Iterator[tuple[Tensor | None, Any]]:
        """What is kept without a copy, and what note_state() saw of it."""
        return zip(self._borrowed(), self.states)

    def note_state(self) -> None:
        """Remembers what the tensors that are kept without a copy look like, as models may write over them."""
        if self.sinks is not None:
            self.sinks = self.sinks.detach().clone()  # a weight, which may be trained
        self.states = [state_of(one) for one in self._borrowed()]

    def need_numbers(self) -> None:
        """Raises unless its queries and keys were kept, and are as they were."""
        need_numbers([self])

    def check_numbers(self) -> None:
        """Raises if it has no numbers, whatever they are."""
        if self.is_bare:
            raise Error("capture: kept no attention (keep='nothing'), expected it for this method; capture with "
                        "keep='inputs'")
        if self.device.type == "meta":
            raise Error("capture: the model ran on the meta device, which has no numbers, expected its weights; load them")

    @property
    def is_half(self) -> bool:
        """Whether its numbers come from half precision."""
        return self.query is not None and self.query.dtype.itemsize < 4

    @property
    def _block_numbers(self) -> int:
        return BLOCK_NUMBERS.get(self.device.type, BLOCK_NUMBERS["cuda"])

    # -- which keys a query sees, if causal and window say it

    def sight(self, item: int, real: Positions, real_keys: Positions) -> Sight:
        """(plain, causal, window); plain: causal and window say it all for the real positions."""
        if self.bias is not None or self.softcap is not None or self.sinks is not None:
            return False, False, 0
        if self.mask is None:
            return True, self.causal, self.window
        if self.mask.ndim != 4 or self.mask.shape[1] != 1:
            return False, False, 0
        key = (id(self.mask), item, id(real), id(real_keys))
        if key not in self.sights:  # what it is made of lives as long as the ids in the key
            self.sights[key] = (self._sight(item, real, real_keys), self.mask, real, real_keys)
        sight: Sight = self.sights[key][0]
        return sight

    def looks_back(self, item: int, real: Positions) -> bool:
        """Whether the map of an item is known to be lower triangular."""
        if self.query is None or self.queries != self.keys or self.first:
            return False
        plain, causal, _ = self.sight(item, real, real)
        return plain and causal

    def _sight(self, item: int, real: Positions, real_keys: Positions) -> Sight:
        assert self.mask is not None
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

    def map(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions,
            nan: str = "error", mended: dict[int, int] | None = None) -> Tensor:
        """[count, keys] float32 of an item, on the record's device: `rows` counts the real rows; real keys only.

        A row that holds NaN raises; `nan`='identity' replaces it in each head, 'keep' leaves it for later. `mended`
        gets how many heads of each row were replaced.
        """
        self.need_numbers()
        real, real_keys = (None if one is None else one.to(self.device) for one in (real, real_keys))
        map = self._map(item, fuse, rows, real, real_keys)
        if fuse in ("max", "min") and self.query is not None and not self._is_finite(item):
            # The kernels' maximum of NaN and a number is the number. A sum shows them all.
            map[~torch.isfinite(self._map(item, "mean", rows, real, real_keys).sum(-1))] = torch.nan
        if nan == "keep":
            return map
        bad = ~torch.isfinite(map.sum(-1))
        if not bool(bad.any()):
            return map
        if nan == "identity":
            counts = {} if mended is None else mended
            counts.update(dict.fromkeys(rows, 0))
            return mend(map, rows.start, rows.start, counts) if self.weights is not None else \
                self._by_blocks(item, fuse, rows, real, real_keys, counts)
        row = rows.start + int(bad.nonzero()[0])
        raise Error(f"{self.name or 'capture'}: row {row} of item {item} holds a number that is not finite, expected "
                    "probabilities; the model computed it: check its weights and precision, or say `nan`='identity'")

    def _is_finite(self, item: int) -> bool:
        """Whether all queries and keys of an item are numbers."""
        return bool(torch.isfinite(self.q[item]).all()) and bool(torch.isfinite(self.k[item]).all())

    def _map(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions) -> Tensor:
        if self.weights is not None:
            return self._given(item, fuse, rows, real, real_keys)
        if self.mean is not None and fuse == "mean" and real is None and real_keys is None:
            # NumPy copies it: in a child of fork(), torch would wait for threads that do not exist.
            return torch.from_numpy(self.mean[item, rows.start:rows.stop].numpy().copy())
        plain, causal, window = self.sight(item, real, real_keys)
        if plain and self.device.type == "cpu":
            return self._by_engine(item, fuse, rows, real, real_keys, causal, window)
        if self.device.type == "cuda" and real is real_keys:
            from .kernels import map_of  # it needs this class
            if (made := map_of(self, item, fuse, rows, real)) is not None:
                return made
        return self._by_blocks(item, fuse, rows, real, real_keys)

    def _by_blocks(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions,
                   mended: dict[int, int] | None = None) -> Tensor:
        out = torch.zeros(len(rows), self.keys if real_keys is None else len(real_keys), device=self.device)
        begun: set[int] = set()
        heads = heads_of(fuse, self.heads)
        for some, block in self.probabilities(item, rows, real, real_keys, heads):
            target = block.of(out)
            if mended is not None:
                begin = rows.start + block.first
                mend(block.values, begin - block.low, begin, mended)
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

    def maps(self) -> Tensor:
        """The mean over heads of all items at their padded length, [B, Q, K] float32."""
        self.need_numbers()
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
            query, key = self.q[items].detach(), self.k[items].detach()
            scores = products(query.flatten(0, 1), key.flatten(0, 1), range(query.shape[0] * self.heads),
                              self.heads // self.k.shape[1]).mul_(self.scale)
            crop = Crop(items, heads, rows, slice(None), 0, self.keys, None)
            scores = scores.view(-1, self.heads, self.queries, self.keys)
            torch.mean(self._softmax(scores, crop, (False, False, 0)), 1, out=out[items])
        return out

    def _given(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions) -> Tensor:
        assert self.weights is not None
        if fuse != self.fuse:
            raise Error(f"capture: its heads were fused by {self.fuse} as they arrived, not by {fuse}; capture "
                                f"with fuse='{fuse}'")
        map = self.weights[item]
        map = map[real[rows.start:rows.stop] if real is not None else slice(rows.start, rows.stop)]
        return map[:, real_keys] if real_keys is not None else map.clone()

    def _by_engine(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions, causal: bool,
                   window: int) -> Tensor:
        query, key = self.q[item], self.k[item]
        query = query[:, real[rows.start:rows.stop]] if real is not None else query[:, rows.start:rows.stop]
        if real_keys is not None:
            key = key[:, real_keys]
        elif self.mask is None and causal and self.keys > self.first + self.queries:
            key = key[:, :self.first + self.queries]
        query = query.detach().float().transpose(0, 1).reshape(query.shape[1], -1)
        key = key.detach().float().transpose(0, 1).reshape(key.shape[1], -1)
        out = torch.empty(query.shape[0], key.shape[0])
        _engine.attention_map(query.numpy(), key.numpy(), out.numpy(), self.heads, self.k.shape[1], float(self.scale), causal, window,
                              self.first + rows.start, fuse)
        return out

    def probabilities(self, item: int, rows: range, real: Positions, real_keys: Positions,
                      heads: range) -> Iterator[tuple[range, Block]]:
        """(heads, their probabilities) in blocks: some rows, some heads, the keys that any of these rows sees."""
        self.need_numbers()
        key = self.k[item].detach()
        key = key if real_keys is None else key[:, real_keys]
        key = key.float() if key.device.type == "cpu" else key
        columns = key.shape[1]
        sight = self.sight(item, real, real_keys)
        numbers = self._block_numbers
        height = max(1, min(len(rows), max(LEAST_ROWS, numbers // max(1, columns * len(heads)))))
        width = max(1, numbers // (height * max(columns, 1)))
        group = self.heads // self.k.shape[1]
        width = width - width % group if width > group else width
        for first in range(0, len(rows), height):
            some_rows = range(rows.start + first, rows.start + min(first + height, len(rows)))
            low, high = self._seen(sight, some_rows, columns)
            which = slice(some_rows.start, some_rows.stop) if real is None else real[some_rows.start:some_rows.stop]
            for begin in range(heads.start, heads.stop, width):
                some = range(begin, min(begin + width, heads.stop))
                query = self.q[item, begin:some.stop].detach()[:, which]
                scores = products(query, key[:, low:high], some, group).mul_(self.scale)
                crop = Crop(item, some, some_rows, which, low, high, real_keys)
                yield some, Block(self._softmax(scores, crop, sight), first, len(some_rows), low)

    def _seen(self, sight: Sight, rows: range, columns: int) -> tuple[int, int]:
        """The range low ... high - 1 of the keys that these rows may see; all keys if a mask decides."""
        plain, causal, window = sight
        if not plain or not causal:
            return 0, columns
        first = self.first if self.mask is None else 0
        low = max(0, first + rows.start - window + 1) if window else 0
        return min(low, columns - 1), max(1, min(columns, first + rows.stop))

    def _softmax(self, scores: Tensor, crop: Crop, sight: Sight) -> Tensor:
        """Turns [..., h, r, keys] scores into probabilities."""
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

    def _look_back(self, scores: Tensor, crop: Crop, causal: bool, window: int) -> None:
        """Masks the keys after a row, or too far before it."""
        if not causal and not window:
            return
        first = (self.first if self.mask is None else 0) + crop.rows.start
        # Without a window, every row sees all keys before the first row.
        begin = crop.low if window else max(crop.low, min(crop.high, first))
        unseen = behind(len(crop.rows), crop.high - begin, first - begin, causal, window, scores.device)
        scores[..., begin - crop.low:].masked_fill_(unseen, float("-inf"))


def need_numbers(records: Sequence[Record]) -> None:
    """Raises unless the queries and keys of all were kept, and are as they were."""
    for record in records:
        record.check_numbers()
    if are_as_they_were(pair for record in records for pair in record.noted()):
        return
    first = next(record for record in records if not are_as_they_were(record.noted()))
    raise Error(f"{first.name or 'capture'}: its queries, keys or masks were overwritten after it ran, expected them "
                "unchanged: the model, or something after it, reuses their memory; capture with keep='maps'")
