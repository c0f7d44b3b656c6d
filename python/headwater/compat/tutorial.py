"""The class of a widely copied tutorial, method for method: torch tensors in and out, the same numbers.

It fuses heads, adds the residual, drops the smallest weights, divides rows and multiplies layers from below. It takes
the first item of a batch, and divides nothing without a residual. Figures are returned; a window opens only if
matplotlib has an interactive backend.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..arrays import Array, NumPyArray, is_torch, to_numpy
from ..errors import Error
from ..kinds import AnyPath, Figure
from ..methods import rollout
from ..plot import draw, pyplot, show


class AttentionRollout:
    """Attention rollout with the tutorial's defaults: discard 0.1 after the residual.

    discard_ratio is the share of the smallest weights to drop, in [0, 1). head_fusion is 'mean', 'max' or 'min'.
    include_residual replaces each layer A by (A + I) / 2.
    """

    def __init__(self, discard_ratio: float = 0.1, head_fusion: str = "mean", include_residual: bool = True):
        self.discard_ratio = discard_ratio
        self.head_fusion = head_fusion
        self.include_residual = include_residual

    def _words(self) -> dict[str, Any]:
        if self.head_fusion not in ("mean", "max", "min"):
            raise Error(f"Unknown head_fusion: {self.head_fusion}")
        return dict(preset="tutorial", fuse=self.head_fusion, discard=max(0.0, float(self.discard_ratio)),
                    residual=0.5 if self.include_residual else 0.0, sums="any")

    def _layers(self, attention_layers: Sequence[Array]) -> list[Array]:
        return [layer[0] if layer.ndim == 4 else layer for layer in attention_layers]

    def _typed(self, values: Array, like: Array) -> Array:
        if like.dtype.itemsize < 4:  # half precision goes in, float32 comes out: products of layers need the bits
            return values
        return values.to(like.dtype) if is_torch(values) else values.astype(like.dtype, copy=False)

    def compute_rollout(self, attention_layers: Sequence[Array]) -> Array:
        """[n, n] over all layers; each layer is [n, n], [H, n, n] or [B, H, n, n]."""
        layers = self._layers(attention_layers)
        return self._typed(rollout(layers, **self._words()).values, layers[0])

    def compute_rollout_by_layer(self, attention_layers: Sequence[Array]) -> list[Array]:
        """The rollout up to each layer: a list of [n, n]."""
        layers = self._layers(attention_layers)
        return [self._typed(one, layers[0]) for one in rollout(layers, by_layer=True, **self._words()).values]

    def _single(self, layer: Array) -> NumPyArray:
        map = to_numpy(self._layers([layer])[0])
        if map.ndim == 3:
            self._words()
            map = getattr(np, self.head_fusion)(map, axis=0)
        return map

    def visualize(self, rollout: Array, tokens: Sequence[str], title: str = "Attention Rollout",
                  save_path: AnyPath | None = None) -> Figure:
        """A figure of a rollout matrix [n, n], saved to save_path if it is given."""
        plt = pyplot()
        figure, ax = plt.subplots(figsize=(10, 8), layout="constrained")
        draw(ax, to_numpy(rollout), tokens, tokens, bar="Cumulative Attention")
        ax.set_xlabel("Input Tokens")
        ax.set_ylabel("Output Tokens")
        ax.set_title(title)
        if save_path:
            figure.savefig(save_path, dpi=150, bbox_inches="tight")
        return show(figure)

    def compare_with_single_layer(self, attention_layers: Sequence[Array], tokens: Sequence[str],
                                  layer_idx: int = -1) -> Figure:
        """A figure with one layer's attention and the rollout, on one scale."""
        layer_idx = range(len(attention_layers))[layer_idx]
        whole = to_numpy(self.compute_rollout(attention_layers))
        single = self._single(attention_layers[layer_idx])
        largest = max(float(single.max()), float(whole.max()))
        figure, axes = pyplot().subplots(1, 2, figsize=(16, 7), layout="constrained")
        for ax, values, title, bar, x, y in (
                (axes[0], single, f"Single Layer ({layer_idx})", "Attention", "Key Tokens", "Query Tokens"),
                (axes[1], whole, "Attention Rollout (All Layers)", "Cumulative Attention", "Input Tokens",
                 "Output Tokens")):
            draw(ax, values, tokens, tokens, vmax=largest, bar=bar)
            ax.set_title(title)
            ax.set_xlabel(x)
            ax.set_ylabel(y)
        figure.suptitle("Single Layer vs. Attention Rollout")
        return show(figure)

    def visualize_evolution(self, attention_layers: Sequence[Array], tokens: Sequence[str],
                            layers_to_show: Sequence[int] | None = None) -> Figure:
        """A figure of the rollout up to several layers: all if there are at most six, else 0, s, 2s, 3s and the last."""
        rollouts = [to_numpy(one) for one in self.compute_rollout_by_layer(attention_layers)]
        count = len(rollouts)
        if layers_to_show is None:
            step = count // 4
            layers_to_show = range(count) if count <= 6 else [0, step, 2 * step, 3 * step, count - 1]
        titles = [f"After Layer {layer}" for layer in layers_to_show]
        largest = max(float(one.max()) for one in rollouts)
        return show(panels([rollouts[layer] for layer in layers_to_show], titles, tokens, "Attention Rollout Evolution",
                           vmax=largest))


def panels(matrices: Sequence[NumPyArray], titles: Sequence[str], tokens: Sequence[str], title: str,
           vmax: float | None = None, across: int = 4) -> Figure:
    across = min(across, len(matrices))
    down = -(-len(matrices) // across)
    size = (5 * across, 4.5 * down)
    figure: Figure
    figure, axes = pyplot().subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    for ax, values, name in zip(axes.flat, matrices, titles):
        draw(ax, values, tokens, tokens, vmax=vmax)
        ax.set_title(name)
    for ax in axes.flat[len(matrices):]:
        ax.axis("off")
    figure.suptitle(title)
    return figure


def compare_discard_ratios(attention_layers: Sequence[Array], tokens: Sequence[str],
                           ratios: Sequence[float] = (0.0, 0.1, 0.3, 0.5)) -> Figure:
    """A figure of the rollout with each discard ratio."""
    found = [to_numpy(AttentionRollout(discard_ratio=ratio).compute_rollout(attention_layers)) for ratio in ratios]
    return show(panels(found, [f"Discard Ratio: {ratio}" for ratio in ratios], tokens, "Effect of Discard Ratio",
                       across=len(found)))


def compare_head_fusion(attention_layers: Sequence[Array], tokens: Sequence[str]) -> Figure:
    """A figure of the rollout with each way to fuse heads: mean, max, min."""
    ways = ("mean", "max", "min")
    found = [to_numpy(AttentionRollout(head_fusion=way).compute_rollout(attention_layers)) for way in ways]
    return show(panels(found, [f"Head Fusion: {way}" for way in ways], tokens, "Effect of Head Fusion Method"))
