"""Figures with matplotlib, which pip install '.[plot]' brings. Each function returns its figure."""
from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Sequence, cast

import numpy as np

from . import _engine
from .arrays import NumPyArray, to_numpy
from .kinds import Axes, Figure

if TYPE_CHECKING:
    from matplotlib.image import AxesImage

    from .result import Attribution


def pyplot() -> ModuleType:
    """matplotlib.pyplot. Raises ImportError with the line that installs it."""
    try:
        import matplotlib.pyplot
    except ImportError as missing:
        raise ImportError("figures need matplotlib: pip install '.[plot]', in the folder of headwater") from missing
    found: ModuleType = matplotlib.pyplot
    return found


def show(figure: Figure) -> Figure:
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


def draw(ax: Axes, values: NumPyArray, columns: Sequence[str], rows: Sequence[str], *, vmax: float | None = None,
         bar: str = "", most: int = 48, signs: bool = False) -> AxesImage:
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
    if result.relevance is None:
        return result.method
    return f"relevance for '{_engine.labels([result.relevance['target']['name']])[0]}'"


def heatmap(result: Attribution, *, title: str | None = None, ax: Axes | None = None,
            vmax: float | None = None) -> Figure:
    """The figure of one result: [rows, n], or layers x tokens for one row by layer."""
    values = to_numpy(result.values)
    names = row_names(result)
    if result.by_layer and values.ndim == 2:
        names = ["input" if layer < 0 else f"layer {layer}" for layer in result.by_layer]
    elif result.by_layer:
        values = values[-1]
    values = np.atleast_2d(values)
    size = min(4 + 0.25 * values.shape[1], 16), min(2 + 0.25 * values.shape[0], 14)
    axes: Axes = pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax
    columns = _engine.labels(result.tokens)
    draw(axes, values, [columns[j] for j in result.columns] if result.columns else columns, names, vmax=vmax,
         bar="red: for, blue: against" if result.has_signs else result.method, signs=result.has_signs)
    axes.set_xlabel("input tokens")
    axes.set_ylabel("output tokens" if not (result.by_layer and to_numpy(result.values).ndim == 2) else "")
    axes.set_title(title if title is not None else result.label or name_of(result))
    figure = cast(Figure, axes.figure)  # or a part of one, where the caller's axes are there
    return show(figure) if ax is None else figure


def panels(results: Sequence[Attribution], *, title: str = "") -> Figure:
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
