"""One call of an attention function as a capture keeps it, and its fused map in blocks.

    scores = scale Q K^T;  softcap: c tanh(scores / c);  plus position bias;  plus mask
    probabilities = softmax(scores), with a sink s_h: over scores and s_h, whose share is dropped

Q and K are kept as the model made them, without a copy; a map is made of them when a method asks, some rows and heads
at a time, so that heads x n x n never exists.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator

import torch

from .. import _engine

BLOCK_NUMBERS = 1 << 23  # probabilities that exist at a time


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
        plain, causal, window = self.sight(item, real, real_keys)
        if plain and self.device.type == "cpu":
            return self._by_engine(item, fuse, rows, real, real_keys, causal, window)
        out = None
        for _, part in self.probabilities(item, rows, real, real_keys, heads_of(fuse, self.heads)):
            block, first, count = part
            if fuse == "mean" or fuse.startswith("head:"):
                piece = block.sum(0)
            else:
                piece = block.amax(0) if fuse == "max" else block.amin(0)
            if out is None:
                out = torch.empty(len(rows), block.shape[-1], device=block.device, dtype=torch.float32)
                seen: set[int] = set()
            target = out[first:first + count]
            if first not in seen:
                target.copy_(piece)
                seen.add(first)
            elif fuse == "max":
                torch.maximum(target, piece, out=target)
            elif fuse == "min":
                torch.minimum(target, piece, out=target)
            else:
                target += piece
        return out.div_(self.heads) if fuse == "mean" else out

    def _given(self, item: int, fuse: str, rows: Any, real: Any, real_keys: Any) -> Any:
        if fuse != self.fuse:
            raise _engine.Error(f"capture: its heads were fused by {self.fuse} as they arrived, expected "
                                f"{self.fuse}, not "
                                f"{fuse}; capture with fuse='{fuse}'")
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
                      heads: range) -> Iterator[tuple[range, tuple[Any, int, int]]]:
        """(heads, (their probabilities [h, r, keys] float32, first row, count)), in blocks."""
        group = self.heads // self.key.shape[1]
        key = self.key[item].detach()
        key = key if real_keys is None else key[:, real_keys]
        columns = key.shape[1]
        height = max(1, min(len(rows), BLOCK_NUMBERS // max(columns, 1)))
        width = max(1, BLOCK_NUMBERS // (height * max(columns, 1)))
        exact = key.device.type == "cpu" or key.dtype == torch.float32
        key = key.float() if exact else key
        for first in range(0, len(rows), height):
            count = min(height, len(rows) - first)
            which = torch.arange(rows.start + first, rows.start + first + count, device=key.device)
            which = which if real is None else real[which]
            for begin in range(heads.start, heads.stop, width):
                some = range(begin, min(begin + width, heads.stop))
                query = self.query[item, begin:some.stop].detach()[:, which]
                keys = key[[head // group for head in some]] if group > 1 else key[begin:some.stop]
                scores = torch.matmul(query.float() if exact else query, keys.transpose(-1, -2)).float()
                yield some, (self._softmax(scores.mul_(self.scale), item, some, which, real_keys), first, count)

    def _softmax(self, scores: Any, item: int, heads: range, rows: Any, real_keys: Any) -> Any:
        """[h, r, keys] scores to probabilities."""
        if self.softcap is not None:
            scores = torch.tanh(scores.div_(self.softcap)).mul_(self.softcap)
        for added in (self.bias, self.mask):
            if added is None:
                continue
            part = added[item if added.shape[0] > 1 else 0]
            part = part[heads.start:heads.stop] if part.shape[0] > 1 else part
            part = part[:, rows] if part.shape[1] > 1 else part
            part = part[..., :scores.shape[-1]] if real_keys is None else part[..., real_keys]
            if part.dtype == torch.bool:
                scores = scores.masked_fill_(~part, float("-inf"))
            else:
                scores += part.detach()
        if self.mask is None and (self.causal or self.window):
            columns = torch.arange(scores.shape[-1], device=scores.device)
            place = (rows + self.first)[:, None]
            unseen = columns > place if self.causal else torch.zeros_like(columns > place)
            if self.window:
                unseen = unseen | (columns <= place - self.window)
                if not self.causal:
                    unseen = unseen | (columns >= place + self.window)
            scores = scores.masked_fill_(unseen, float("-inf"))
        if self.sinks is None:
            return torch.softmax(scores, -1)
        sink = self.sinks[heads.start:heads.stop].detach().float().view(-1, 1, 1).expand(-1, scores.shape[1], 1)
        top = torch.maximum(scores.amax(-1, keepdim=True), sink)
        scores = scores.sub_(top).exp_()
        return scores.div_(scores.sum(-1, keepdim=True) + (sink - top).exp())


def heads_of(fuse: str, heads: int) -> range:
    if not fuse.startswith("head:"):
        return range(heads)
    head = int(fuse[5:])
    if not -heads <= head < heads:
        raise _engine.Error(f"capture: has no head {head}, expected 0 to {heads - 1}; choose another")
    return range(head % heads, head % heads + 1)
