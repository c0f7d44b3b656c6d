"""`headwater summarise`: tables in the terminal, or a file."""
from __future__ import annotations

import argparse
import math
import sys
from typing import Sequence, TextIO

from .. import _engine
from .gather import summarise
from .settings import BadUsage
from .summary import MEASURES, OF_WHOLE_TEXTS, DataSummary, Drift, Mean
from .words import counted

TITLES = {"token": "Tokens, by their mean value", "position": "Positions", "text": "Texts",
          "part": "Parts, by their mean share"}
EXPLAINED = ("sum: of the values of a text; largest: the share of the largest value; half: how many tokens have half of "
             "all; entropy: of the shares, 0 if one token has all. Shares ignore signs.")


def summarise_command(asked: argparse.Namespace) -> int:
    """Runs the command, and returns the exit status."""
    if asked.output and asked.against:
        raise BadUsage("--output: is for the summary itself, and --against is a comparison; leave one of them out")
    summary = summarise(asked.results, by=asked.by, parts=asked.parts, partial=asked.partial)
    if asked.output:
        summary.save(asked.output)
        print_notes(summary.notes, sys.stderr)
        return 0
    if asked.against:
        return against(asked, summary)
    print(f"{counted(summary.texts, 'text')}, {summary.failed:,} failed; means with their 95 % intervals (Student's t)")
    print_notes(summary.notes)
    chosen = [kind for kind in TITLES if getattr(asked, f"{kind}s", False)]
    for kind in chosen or [kind for kind in ("text", "part", "token") if not (summary.cut and kind in OF_WHOLE_TEXTS)]:
        print_kind(summary, kind, asked.least if kind == "token" else 1, max(asked.count, len(MEASURES)) if kind == "text"
                   else asked.count)
    return 0


def against(asked: argparse.Namespace, summary: DataSummary) -> int:
    other = summarise(asked.against, by=asked.by, parts=asked.parts, partial=asked.partial)
    kind = "position" if asked.positions else "text" if asked.texts else "token"
    rows = summary.drift(other, kind, least=asked.least)
    print(f"{counted(summary.texts, 'text')}, {summary.failed:,} failed; against {counted(other.texts, 'text')}, "
          f"{other.failed:,} failed, in {asked.against}; 95 % intervals (Welch's)")
    print_notes([*dict.fromkeys([*summary.compared(other), *summary.notes, *other.notes])])
    print_drift(rows[:asked.count])
    if len(rows) > asked.count:
        print(f"  ... and {len(rows) - asked.count:,} more; --count shows more")
    first, then = ({(row["group"], row["key"]) for row in one.rows(kind)} for one in (summary, other))
    if first ^ then:
        print(f"  {counted(len(first ^ then), kind)} in one of the runs alone left out")
    if len(first & then) > len(rows):
        print(f"  {counted(len(first & then) - len(rows), kind)} with fewer than {max(2, asked.least)} values left out; "
              "--least says how many are enough")
    return 0


def print_notes(notes: Sequence[str], file: TextIO | None = None) -> None:
    from .command import spelled
    for note in notes:
        print(f"note: {spelled(note)}", file=file)


def print_kind(summary: DataSummary, kind: str, least: int, count: int) -> None:
    everything = summary.rows(kind)
    for group in sorted({str(row["group"]) for row in everything}):
        whole = [row for row in everything if str(row["group"]) == group]
        some = [row for row in whole if row["count"] >= least]
        title = TITLES[kind] + (f" of {summary.by} {group}" if summary.by else "")
        print(f"\n{title}{', where they were kept' if summary.cut else ''}")
        print_table([kind, "count", "mean", "interval"], [
            [shown(row["key"]), f"{row['count']:,}", number(row["mean"]), interval(row)] for row in some[:count]])
        if len(some) > count:
            print(f"  ... and {len(some) - count:,} more; --count shows more")
        if len(whole) > len(some):
            print(f"  {counted(len(whole) - len(some), kind)} with fewer than {least} values left out; --least 1 shows all")
    if kind == "text" and everything:
        print(f"  {EXPLAINED}")


def print_drift(rows: Sequence[Drift]) -> None:
    print_table(["key", "group", "mean", "then", "difference", "interval", "standard errors"], [
        [shown(row["key"]), str(row["group"] or ""), number(row["mean"]), number(row["mean_other"]),
         number(row["difference"]), interval(row), f"{row['errors']:.1f}"] for row in rows])


def shown(key: object) -> str:
    return _engine.labels([key])[0] if isinstance(key, str) else str(key)


def interval(row: Mean) -> str:
    return "-" if math.isnan(row["low"]) else f"{number(row['low'])} to {number(row['high'])}"


def number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"


def print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[k]) for line in [names, *rows]) for k in range(len(names))]
    for line in [names, *rows]:
        print("  " + "  ".join(cell.ljust(width) if k == 0 else cell.rjust(width)
                               for k, (cell, width) in enumerate(zip(line, widths))).rstrip())
