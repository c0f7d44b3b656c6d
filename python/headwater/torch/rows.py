"""Rollout of a few rows, layer by layer, without maps: v <- v A with the kernels of kernels.py.

A = (1 - r) F + r I, its rows divided by their sums, as in device.py. With f the sums of F's rows and u = v / ((1 - r) f +
r), v A = (1 - r) u F + r u. Where all f are 1, u = v.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import torch
from torch import Tensor

from ..errors import Error
from .blocks import Positions, counted_head
from .kernels import Layer, refuse, serves
from .passing_on import PassingOn
from .record import Record


@dataclass
class Rows:
    """Rows on their way down: [R, n] float32, of a batch [items, R, n], where only columns begin ... end - 1 are not 0."""

    values: Tensor
    begin: int
    end: int
    empty: Any = 0  # how many rows of maps had nothing to divide by
    exact: bool = True  # whether the rows of all maps so far sum to 1

    def beside(self, others: Rows) -> Rows:
        """These rows, then others that begin their way here."""
        values = torch.cat([self.values, others.values.to(self.values.device)])
        return Rows(values, min(self.begin, others.begin), max(self.end, others.end), self.empty, self.exact)


def fold(record: Record, item: int, real: Positions, rows: Rows, options: Mapping[str, Any], as_it_is: bool,
         given: bool) -> Rows | None:
    """Rows through one more layer; None if its map is needed. `given`: the forward pass's sums may be used."""
    if not as_it_is and options["discard"] > 0:
        return None
    if isinstance(record, PassingOn):
        return rows  # the identity stays the identity
    if not serves(record):
        return None
    fuse = counted_head(options["fuse"], record.heads)
    try:
        # Rows of maximum and minimum do not sum to 1, so nothing would show wrong sums of the forward pass.
        given = given and fuse not in ("max", "min")
        return through(Layer(record, item, real), rows, options, fuse, as_it_is, given)
    except Error as wrong:
        refuse(record, wrong)
        return None


def through(layer: Layer, rows: Rows, options: Mapping[str, Any], fuse: str, as_it_is: bool, given: bool) -> Rows:
    values = rows.values.to(layer.record.device)
    residual = 0.0 if as_it_is else options["residual"]
    divides = not as_it_is and (options["divide"] == "always" or residual > 0)
    sums = layer.row_sums(fuse, given)
    gone, weights = None, values
    if divides and sums is not None:
        sums = (1 - residual) * sums + residual
        gone = sums <= 0
        weights = torch.where(gone, 0, values / torch.where(gone, 1, sums))
    out = layer.times(weights, fuse, rows.begin, rows.end, given, residual)
    if gone is not None and options["empty"] == "identity":
        out += torch.where(gone, values, 0)
    begin, end = 0, layer.n
    if layer.causal:
        begin, end = max(0, rows.begin - layer.window + 1) if layer.window else 0, rows.end
    empty = rows.empty if gone is None else rows.empty + gone.sum().to(rows.values.device)
    exact = rows.exact and (sums is None or divides and options["empty"] == "identity")
    return Rows(out, begin, end, empty, exact)


def trusted(rows: Rows) -> bool:
    """Whether the numbers can be believed: finite, and as much in a row as went in."""
    sums = rows.values.sum(-1, dtype=torch.float64)
    return bool(((sums - 1).abs() < 1e-3).all() if rows.exact else torch.isfinite(sums).all())


def first_rows(rows: Sequence[int] | str, n: int, device: torch.device) -> Rows:
    """Rows of the identity, or their mean."""
    if isinstance(rows, str):
        return Rows(torch.full((1, n), 1 / n, device=device), 0, n)
    values = torch.zeros(len(rows), n, device=device)
    values[torch.arange(len(rows), device=device), torch.tensor(list(rows), device=device)] = 1
    return Rows(values, min(rows), max(rows) + 1)
