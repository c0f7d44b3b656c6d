"""The part that heads and edges of attention have in relevance, read from what attention gives and its gradient.

    the share of head h   sum over rows of o_h . dO_h
    the edges of a layer  sum over heads of P_h (x) (dO_h V_h')

Whatever is needed later goes through save_for_backward, so that a checkpoint can drop it and compute it again; only the
edges of one layer are n x n.
"""
from __future__ import annotations

from typing import Any, Callable

import torch
from torch import Tensor

from ..errors import Error

WEIGHTS = "_headwater_attention_weights"  # on tensors that are attention weights


class Attended(torch.autograd.Function):
    """y = out; hands `out`, its gradient and what was kept to `take`."""

    @staticmethod
    def forward(ctx: Any, out: Tensor, take: Callable[..., None], *kept: Tensor) -> Tensor:
        ctx.save_for_backward(out, *kept)
        ctx.take = take
        return out.view_as(out)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        out, *kept = ctx.saved_tensors
        ctx.take(out, grads[0], *kept)
        return grads[0], None, *[None for _ in kept]


class Parts:
    """What was found about heads and edges in one pass. Layers are counted as they are called."""

    def __init__(self, length: int, heads: bool, edges: int | None):
        self.length, self.heads, self.layer = length, heads, edges
        self.shares: dict[int, Tensor] = {}
        self.edges: Tensor | None = None
        self.calls: dict[int, int] = {}
        self.counting = True  # false while a checkpoint computes layers again

    def of_kernel(self, number: int, out: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
                  causal: bool, scale: float | None) -> Tensor:
        """After a kernel that holds no weights: out and queries [1, H, n, d]."""
        if not self.fits(query, key):
            return out

        def edges(grad: Tensor, q: Tensor, k: Tensor, v: Tensor, *masks: Tensor) -> Tensor:
            total = torch.zeros(self.length, self.length, dtype=grad.dtype, device=grad.device)
            groups = q.shape[1] // k.shape[1]
            for head in range(q.shape[1]):
                scores = q[0, head].to(grad.dtype) @ k[0, head // groups].to(grad.dtype).T
                scores *= q.shape[-1] ** -0.5 if scale is None else scale
                if causal:
                    scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), float("-inf"))
                for one in masks:
                    one = one.expand(1, q.shape[1], self.length, self.length)[0, head]
                    scores = scores.masked_fill_(~one, float("-inf")) if one.dtype == torch.bool else scores + one
                total += scores.softmax(-1) * (grad[0, head] @ v[0, head // groups].to(grad.dtype).T)
            return total

        kept = [one.detach() for one in (query, key, value, *([] if mask is None else [mask]))]
        return self.watched(number, out, -3, edges, kept)

    def of_weights(self, number: int, out: Tensor, weights: Tensor, value: Tensor) -> Tensor:
        """After weights [..., H, n, n] times values."""
        if out.ndim < 3 or out.numel() != out.shape[-3:].numel() or not self.fits(out, weights.mT):
            return out

        def edges(grad: Tensor, p: Tensor, v: Tensor) -> Tensor:
            heads = zip(p.flatten(0, -3), grad.flatten(0, -3), v.expand(*p.shape[:-1], -1).flatten(0, -3)
                        if v.ndim == p.ndim else v)
            return sum((one.to(grad.dtype) * (g @ u.to(grad.dtype).T) for one, g, u in heads),
                       torch.zeros(self.length, self.length, dtype=grad.dtype, device=grad.device))

        return self.watched(number, out, -3, edges, [weights.detach(), value.detach()])

    def of_opaque(self, number: int, out: Tensor, query: Tensor, key: Tensor, name: str) -> Tensor:
        """After an opaque kernel: out [1, n, H, d], queries [1, H, n, d]."""
        if not self.fits(query, key):
            return out
        if number == self.layer:
            raise Error(f"`edges`: attention by '{name}' shows no weights, expected another; load the model with "
                        "attn_implementation='sdpa' or 'eager'")
        return self.watched(number, out, -2, None, [])

    def fits(self, query: Tensor, key: Tensor) -> bool:
        """Whether this is attention among all tokens."""
        return query.shape[-2] == key.shape[-2] == self.length

    def watched(self, number: int, out: Tensor, axis: int, edges: Callable[..., Tensor] | None,
                kept: list[Tensor]) -> Tensor:
        wanted = number == self.layer and edges is not None
        if self.counting:
            self.calls[number] = self.calls.get(number, 0) + 1

        def take(out: Tensor, grad: Tensor, *kept: Tensor) -> None:
            dtype = torch.float64 if out.dtype == torch.float64 else torch.float32
            with torch.no_grad():
                others = [k for k in range(out.ndim) if k != out.ndim + axis]
                self.shares[number] = (out.to(dtype) * grad.to(dtype)).sum(others)
                if wanted and edges is not None:
                    self.edges = edges(grad.to(dtype), *kept)

        found: Tensor = Attended.apply(out, take, *(kept if wanted else []))
        return found

    def check(self, count: int, name: str) -> None:
        """Raises if a requested layer has no attention, or several."""
        asked = range(count) if self.heads else [] if self.layer is None else [self.layer]
        for number in asked:
            if self.calls.get(number, 0) != 1:
                word = "heads" if self.heads else "edges"
                raise Error(f"`{word}`: layer {number} of '{name}' calls {self.calls.get(number, 0)} attentions over all "
                            "tokens that headwater sees, expected one; load the model with "
                            "attn_implementation='sdpa' or 'eager', or leave it out")
        sizes = {len(share) for share in self.shares.values()}
        if self.heads and len(sizes) > 1:
            raise Error(f"`heads`: the layers of '{name}' have {' and '.join(map(str, sorted(sizes)))} heads, expected as "
                        "many in each; leave it out")

    def table(self, count: int) -> Tensor:
        """[layers, heads]; a layer that the output does not depend on has zeros."""
        some = next(iter(self.shares.values()))
        return torch.stack([self.shares.get(k, torch.zeros_like(some)).to(some.device) for k in range(count)])
