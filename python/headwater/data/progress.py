"""How far the work is: a line that changes on a terminal, a line a minute in a log."""
from __future__ import annotations

import sys
import time

LOG_SECONDS = 60.0
SHOW_SECONDS = 0.2


class Progress:
    """Counts rows. Rows that were done before do not count for the rate."""

    def __init__(self, total: int):
        self.total, self.done, self.ran = total, 0, 0
        self.begin = self.last = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def add(self, rows: int, *, ran: bool) -> None:
        self.done += rows
        self.ran += rows if ran else 0
        now = time.monotonic()
        if now - self.last < (SHOW_SECONDS if self.terminal else LOG_SECONDS):
            return
        self.last = now
        line = self.line()
        print(f"\r{line}\x1b[K" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr,
              flush=True)

    def rate(self) -> float:
        """Rows a second."""
        return self.ran / max(time.monotonic() - self.begin, 1e-9)

    def line(self) -> str:
        rate = self.rate()
        left = f", {duration((self.total - self.done) / rate)} left" if rate > 0 else ""
        return f"{self.done:,} of {self.total:,} rows, {rate:.3g} a second{left}"

    def clear(self) -> None:
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """'3 h 20 min', '4 min 10 s' or '12 s'."""
    whole = int(seconds + 0.5)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
