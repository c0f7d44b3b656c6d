"""`headwater summarise`: tables in the terminal, or a file."""
from __future__ import annotations

import argparse
import math
from typing import Any, Sequence

from .. import _engine
from .summary import DataSummary, summarise

TITLES = {"token": "Tokens, by their mean value", "position": "Positions", "text": "Texts",
          "part": "Parts, by their mean share"}


def summarise_command(asked: argparse.Namespace) -> int:
    """Does the work of a line, and returns the exit status."""
    summary = summarise(asked.results, by=asked.by, parts=asked.parts, partial=asked.partial)
    if asked.output:
        summary.save(asked.output)
        return 0
    print(f"{summary.texts:,} texts, {summary.failed:,} failed; means with their 95 % intervals")
    if asked.against:
        other = summarise(asked.against, by=asked.by, parts=asked.parts, partial=asked.partial)
        print(f"against {other.texts:,} texts, {other.failed:,} failed, in {asked.against}")
        kind = "position" if asked.positions else "token"
        print_drift(summary.drift(other, kind, least=asked.least)[:asked.count])
        return 0
    chosen = [kind for kind in TITLES if getattr(asked, f"{kind}s", False)] or ["text", "part", "token"]
    for kind in chosen:
        print_kind(summary, kind, asked.least if kind == "token" else 1, asked.count)
    return 0


def print_kind(summary: DataSummary, kind: str, least: int, count: int) -> None:
    rows = summary.rows(kind, least=least)
    for group in sorted({str(row["group"]) for row in rows}):
        some = [row for row in rows if str(row["group"]) == group]
        title = TITLES[kind] + (f" of {summary.by} {group}" if summary.by else "")
        print(f"\n{title}")
        print_table([kind, "count", "mean", "interval"], [
            [shown(row["key"]), f"{row['count']:,}", number(row["mean"]), f"{number(row['low'])} to {number(row['high'])}"]
            for row in some[:count]])
        if len(some) > count:
            print(f"  ... and {len(some) - count:,} more; --count shows more")


def print_drift(rows: Sequence[dict[str, Any]]) -> None:
    print_table(["key", "group", "mean", "then", "difference", "interval", "standard errors"], [
        [shown(row["key"]), str(row["group"] or ""), number(row["mean"]), number(row["mean_other"]),
         number(row["difference"]), f"{number(row['low'])} to {number(row['high'])}", f"{row['errors']:.1f}"]
        for row in rows])


def shown(key: Any) -> str:
    return _engine.labels([key])[0] if isinstance(key, str) else str(key)


def number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[k]) for line in [names, *rows]) for k in range(len(names))]
    for line in [names, *rows]:
        print("  " + "  ".join(cell.ljust(width) if k == 0 else cell.rjust(width)
                               for k, (cell, width) in enumerate(zip(line, widths))).rstrip())
