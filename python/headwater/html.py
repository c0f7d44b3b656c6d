"""What a notebook shows of a result: a row as shaded text, a small map, and the options. No script, no network."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Mapping

import numpy as np

from . import _engine
from .arrays import NumPyArray

if TYPE_CHECKING:
    from .result import Attribution

MOST_CELLS = 64  # tokens up to which the whole map is drawn
ANCHORS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)  # viridis


def colour(share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(ANCHORS) - 1)
    low = min(int(place), len(ANCHORS) - 2)
    mixed = ANCHORS[low] + (place - low) * (ANCHORS[low + 1] - ANCHORS[low])
    return "#%02x%02x%02x" % tuple(int(round(part)) for part in mixed)


def row_of(result: Attribution) -> str:
    """The row of a result that is shown."""
    labels = _engine.labels(result.tokens)
    names = [labels[j] for j in result.columns] if result.columns else labels
    return shaded(result.row(), names, result.has_signs)


def shown(result: Attribution) -> str:
    """Which row is shown, in words."""
    if list(result.rows) == ["mean"]:
        return "mean of all output tokens over the input tokens"
    row = result.rows[result.shown_row()]
    return f"output token {row}, {_engine.labels(result.tokens)[row]}, over the input tokens"


def shaded(values: NumPyArray, labels: list[str], signs: bool = False) -> str:
    """A row as its tokens; the larger the value, the darker the background: green, or red and blue for signs."""
    largest = float(np.abs(values).max()) or 1.0
    spans = []
    for label, value in zip(labels, values):
        share = abs(float(value)) / largest
        colour = "33,145,140" if not signs else "178,24,43" if value > 0 else "33,102,172"
        spans.append(f'<span title="{float(value):.4g}" style="background:rgba({colour},{share:.3f});padding:1px 3px;'
                     f'border-radius:2px">{html.escape(label)}</span>')
    return '<div style="line-height:1.9">' + " ".join(spans) + "</div>"


def cells(title: str, maps: list[NumPyArray], largest: float, signs: bool = False) -> str:
    """Maps as tables of coloured cells; those with signs red and blue. No SVG: notebooks that are not trusted strip it."""
    def shade(share: float) -> str:
        if not signs:
            return colour(share)
        return f"rgba({'178,24,43' if share > 0 else '33,102,172'},{abs(share):.3f})"

    tables = []
    for map in maps:
        rows = "".join("<tr>" + "".join(
            f'<td title="{float(value):.4g}" style="background:{shade(float(value) / (largest or 1.0))};width:10px;'
            f'height:10px;padding:0;border:0"></td>' for value in line) + "</tr>" for line in map)
        tables.append(f'<table style="border-collapse:collapse;display:inline-table;margin:4px">{rows}</table>')
    return f"<div><small>{html.escape(title)}</small><br>{''.join(tables)}</div>"


def square(result: Attribution) -> str:
    """The map as a small table; nothing if it is large or a single row."""
    values = result.matrix()
    if max(values.shape) > MOST_CELLS or len(values) < 2:
        return ""
    return cells(f"{result.method}: output tokens down, input tokens across", [values], float(values.max()))


def page(result: Attribution) -> str:
    """The result as HTML; of a batch, its first item."""
    one = result.item(0) if result.batch else result
    item = f", item 0 of {len(result.tokens)}" if result.batch else ""
    asked = ", ".join(f"{word} {value}" for word, value in one.options.items())
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in one.notes)
    head = f"<b>{html.escape(one.method)}</b> of {html.escape(one.source)}{item} <small>({html.escape(asked)})</small>"
    return f"<div>{head}<br><small>{html.escape(shown(one))}</small>{row_of(one)}{square(one)}{'<ul>' + notes + '</ul>' if notes else ''}</div>"


def lines(title: str, outputs: list[str], values: NumPyArray, inputs: list[str], signs: bool = False) -> str:
    """One line for each output token, with its row over the inputs; the first MOST_CELLS of them."""
    names, labels = _engine.labels(outputs), _engine.labels(inputs)
    rows = "".join(f"<tr><td><b>{html.escape(name)}</b></td><td>{shaded(row, labels, signs)}</td></tr>"
                   for name, row in list(zip(names, values))[:MOST_CELLS])
    rest = f"<small>and {len(names) - MOST_CELLS} more</small>" if len(names) > MOST_CELLS else ""
    return f"<div><b>{html.escape(title)}</b><table>{rows}</table>{rest}</div>"


def numbers(title: str, rows: Mapping[str, object]) -> str:
    """A table of names and numbers."""
    def shown(value: object) -> str:
        return f"{value:.4f}" if isinstance(value, float) else html.escape(str(value))

    cells = "".join(f"<tr><td>{html.escape(name)}</td><td>{shown(value)}</td></tr>" for name, value in rows.items())
    return f"<div><b>{html.escape(title)}</b><table>{cells}</table></div>"
