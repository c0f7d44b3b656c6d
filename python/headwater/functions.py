"""Rollout and flow as the plain functions that people have, with the names they use for arguments; arrays out."""
from __future__ import annotations

from typing import Any

from ._engine import Error
from .methods import flow, rollout


def attention_rollout(attentions: Any, *, discard_ratio: float = 0.0, head_fusion: str = "mean",
                      residual: bool | float = True, add_residual: bool | None = None, start_layer: int = 0,
                      attention_mask: Any = None) -> Any:
    """Rollout over all layers as an array: [n, n], [B, n, n] of a batch.

    attentions: a list with one array a layer, [n, n], [H, n, n] or [B, H, n, n], or one stacked array. residual:
    True is 0.5; a number is itself. start_layer: the lowest layer that counts.
    """
    share = residual if add_residual is None else add_residual
    share = 0.5 if share is True else 0.0 if share is False else float(share)
    return rollout(attentions, fuse=head_fusion, discard=discard_ratio, residual=share, layers=f"{start_layer}:",
                   attention_mask=attention_mask).values


def attention_flow(attentions: Any, *, head_fusion: str = "mean", residual: bool | float = True,
                   output_index: int | None = None, input_index: int | None = None, normalise: bool = False,
                   attention_mask: Any = None) -> Any:
    """Maximum flow through the attention graph, float64: [n, n], or of one output token [n], or one number.

    output_index and input_index choose a row and a column; -1 is the last.
    """
    share = 0.5 if residual is True else 0.0 if residual is False else float(residual)
    if input_index is not None and output_index is None:
        raise Error("input_index: was given without output_index, expected both; give output_index too")
    result = flow(attentions, fuse=head_fusion, residual=share, row=output_index, column=input_index,
                  normalise=normalise, attention_mask=attention_mask)
    return result.values if input_index is None else result.values[..., 0]
