"""Rollout and flow as plain functions, with the argument names that people use. They return arrays."""
from __future__ import annotations

from ..arrays import Array
from ..errors import Error
from ..kinds import Mask
from ..methods import flow, rollout
from ..source import Attention


def share_of(residual: bool | float) -> float:
    return 0.5 if residual is True else 0.0 if residual is False else float(residual)


def attention_rollout(attentions: Attention, *, discard_ratio: float = 0.0, head_fusion: str = "mean",
                      residual: bool | float = True, add_residual: bool | None = None, start_layer: int = 0,
                      attention_mask: Mask | None = None) -> Array:
    """Rollout over all layers as an array: [n, n], or [B, n, n] for a batch.

    attentions is a list with one array a layer, [n, n], [H, n, n] or [B, H, n, n], or one stacked array. residual is a
    share; True means 0.5. add_residual is another name for it. start_layer is the lowest layer that counts.
    """
    share = share_of(residual if add_residual is None else add_residual)
    return rollout(attentions, fuse=head_fusion, discard=discard_ratio, residual=share, layers=f"{start_layer}:",
                   attention_mask=attention_mask).values


def attention_flow(attentions: Attention, *, head_fusion: str = "mean", residual: bool | float = True,
                   output_index: int | None = None, input_index: int | None = None, normalise: bool = False,
                   attention_mask: Mask | None = None) -> Array:
    """Maximum flow through the attention graph, float64: [n, n], [n] for one output token, or one number.

    output_index and input_index choose a row and a column; -1 is the last.
    """
    if input_index is not None and output_index is None:
        raise Error("`input_index`: was given without output_index, expected both; give output_index too")
    result = flow(attentions, fuse=head_fusion, residual=share_of(residual), row=output_index, column=input_index,
                  normalise=normalise, attention_mask=attention_mask)
    return result.values if input_index is None else result.values[..., 0]
