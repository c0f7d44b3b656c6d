"""Eight numbers on the attention of a model's batch, under the name and with the keys that people know."""
from __future__ import annotations

from typing import Sequence

import torch
from torch import Tensor

from ..errors import Error
from ..kinds import Given
from ..result import Metrics
from ..torch.recording import check_model
from ..torch.metrics import Fold, Sums, chunked_maps, item_sums, total_of


class ICLRMetrics:
    """The metrics function as a method: `ICLRMetrics().compute_attention_attribution(model, input_batch)`."""

    def compute_attention_attribution(self, model: torch.nn.Module, input_batch: Given, layer_idx: int = -1,
                                      attention_layer_pattern: str | None = None) -> Metrics:
        """`headwater.compute_attention_attribution`."""
        return compute_attention_attribution(model, input_batch, layer_idx, attention_layer_pattern)

    def _compute_attention_rollout_efficient(self, attention_tensors: Sequence[Tensor]) -> dict[str, float]:
        """rollout_max and rollout_entropy of given layers: [B, H, n, n], [B, n, n] or [n, n] each."""
        sums = Sums()
        stacked = [heads_first(one) for one in attention_tensors]
        for item in range(stacked[0].shape[0]):
            fold = Fold(len(stacked) - 1)
            for layer in stacked:
                fold.add(layer[item].float().mean(0))
            sums.add(*fold.results())
        return {key: value for key, value in sums.numbers().items() if key.startswith("rollout")}


    def _process_attention_chunked(self, model: torch.nn.Module, batch: Given,
                                   chunk_size: int) -> tuple[Tensor, ...] | None:
        """The attention of each layer with its heads averaged, [B, n, n], computed chunk_size items at a time.

        None if the model has no attention. Raises headwater.Error.
        """
        check_model(model)
        if chunk_size < 1:
            raise Error(f"`chunk_size` {chunk_size}: expected 1 or more items; for example 8")
        return chunked_maps(model, batch, chunk_size)


def heads_first(layer: Tensor) -> Tensor:
    """[B, H, n, n] of [B, n, n] or [n, n], which stand for one head."""
    return layer if layer.ndim == 4 else layer[:, None] if layer.ndim == 3 else layer[None, None]


def compute_attention_attribution(model: torch.nn.Module, input_batch: Given, layer_idx: int = -1,
                                  attention_layer_pattern: str | None = None, *, stack: str | None = None,
                                  call: int | None = None) -> Metrics:
    """Runs `model(**input_batch)` and returns eight numbers on its attention.

    They are mean_attention, max_attention, attention_entropy and attention_concentration of layer `layer_idx`,
    rollout_max, rollout_entropy, batch_size and seq_length. input_batch holds input_ids [B, n], attention_mask [B, n]
    and whatever else the model takes. attention_layer_pattern is a regular expression; modules whose whole name it
    matches are looked at. stack chooses one of several stacks of layers, call one of its calls, where one pass makes
    several. Raises headwater.Error.
    """
    check_model(model)
    each, notes = item_sums(model, input_batch, layer_idx, attention_layer_pattern, stack=stack, call=call)
    return total_of(each).metrics(Fold.OPTIONS, layer_idx, type(model).__name__, notes)
