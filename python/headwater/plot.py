"""Figures with matplotlib, which pip install '.[plot]' brings. Each function returns its figure."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _engine
from .arrays import to_numpy

if TYPE_CHECKING:
    from .result import Attribution


def pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError as missing:
        raise ImportError("figures need matplotlib: pip install '.[plot]', in the folder of headwater") from missing
    return plt


def show(figure: Any) -> Any:
    """Opens a window if matplotlib's backend has one; else closes the figure, so that a notebook shows what is returned
    once and nothing piles up. The figure can be saved either way.
    """
    import matplotlib
    if matplotlib.get_backend().lower() in {name.lower() for name in interactive_backends()}:
        pyplot().show(block=False)
    else:
        pyplot().close(figure)
    return figure


def interactive_backends() -> list[str]:
    try:
        from matplotlib.backends.registry import BackendFilter, backend_registry
    except ImportError:  # before matplotlib 3.9
        from matplotlib import rcsetup
        return list(getattr(rcsetup, "interactive_bk"))
    return list(backend_registry.list_builtin(BackendFilter.INTERACTIVE))


def draw(ax: Any, values: Any, columns: Sequence[str], rows: Sequence[str], *, vmax: float | None = None,
         bar: str = "", most: int = 48, signs: bool = False) -> Any:
    """Draws a viridis map on `ax`, with at most `most` labels on each side; of signed values, red and blue."""
    if signs:
        vmax = float(np.abs(values).max()) or 1.0 if vmax is None else vmax
    image = ax.imshow(values, cmap="RdBu_r" if signs else "viridis", vmin=-(vmax or 0) if signs else 0, vmax=vmax,
                      aspect="equal" if len(rows) > 1 else "auto", interpolation="nearest")
    for names, ticks, labels, angle in ((columns, ax.set_xticks, ax.set_xticklabels, 45),
                                       (rows, ax.set_yticks, ax.set_yticklabels, 0)):
        places = range(0, len(names), max(1, -(-len(names) // most)))
        ticks(list(places))
        labels([names[k] for k in places], rotation=angle, ha="right")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=bar)
    return image


def row_names(result: Attribution) -> list[str]:
    if list(result.rows) == ["mean"]:
        return ["mean"]
    labels = _engine.labels(result.tokens)
    return [labels[row] for row in result.rows]


def name_of(result: Attribution) -> str:
    """The method and, for relevance, its target."""
    return result.method if result.relevance is None else f"relevance for '{result.relevance['target']['name']}'"


def heatmap(result: Attribution, *, title: str | None = None, ax: Any = None, vmax: float | None = None) -> Any:
    """The figure of one result: [rows, n], or layers x tokens for one row by layer."""
    plt = pyplot()
    values = to_numpy(result.values)
    names = row_names(result)
    if result.by_layer and values.ndim == 2:
        names = ["input" if layer < 0 else f"layer {layer}" for layer in result.by_layer]
    elif result.by_layer:
        values = values[-1]
    values = np.atleast_2d(values)
    own = ax is None
    if own:
        size = min(4 + 0.25 * values.shape[1], 16)
        _, ax = plt.subplots(figsize=(size, min(2 + 0.25 * values.shape[0], 14)), layout="constrained")
    columns = _engine.labels(result.tokens)
    draw(ax, values, [columns[j] for j in result.columns] if result.columns else columns, names, vmax=vmax,
         bar="red: for, blue: against" if result.has_signs else result.method, signs=result.has_signs)
    ax.set_xlabel("input tokens")
    ax.set_ylabel("output tokens" if not (result.by_layer and to_numpy(result.values).ndim == 2) else "")
    ax.set_title(title if title is not None else result.label or name_of(result))
    return show(ax.figure) if own else ax.figure


def panels(results: Sequence[Attribution], *, title: str = "") -> Any:
    """Results side by side on one scale, at most four in a line."""
    plt = pyplot()
    across = min(4, len(results))
    down = -(-len(results) // across)
    figure, axes = plt.subplots(down, across, figsize=(5 * across, 4.5 * down), squeeze=False, layout="constrained")
    largest = max(float(np.max(to_numpy(result.values))) for result in results)
    for ax, result in zip(axes.flat, results):
        heatmap(result, ax=ax, vmax=largest)
    for ax in axes.flat[len(results):]:
        ax.axis("off")
    figure.suptitle(title)
    return show(figure)
