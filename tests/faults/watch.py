"""Ends a run that hangs or works without end. What its processes do decides, not the clock: on a busy machine any run takes
long, and one that waits for a processor does nothing wrong."""
import os
import signal
import threading
from pathlib import Path

INTERVAL = 0.25
TICKS = os.sysconf("SC_CLK_TCK")


def fields(path):
    """State, parent, group and so on of a process or thread; none if it is gone."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def group_members(group):
    """(folder in /proc, fields) of each process of a group."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (about := fields(folder / "stat")) and int(about[2]) == group:
            yield folder, about


def wants_a_processor(folder):
    """Whether a thread of a process runs, would like to, or waits for a disk."""
    try:
        threads = list((folder / "task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended
    return any((about := fields(thread / "stat")) and about[0] in "RD" for thread in threads)


class Watch:
    """While it is open, it looks at the processes of a group and kills them all after `asleep` seconds in which none of them
    wanted a processor, or `work` seconds of processor time. `wrong` then says which."""

    def __init__(self, group, asleep, work):
        self.group, self.asleep, self.work, self.wrong = group, asleep, work, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        slept = 0.0  # by looks, not by the clock: where this process has to wait, so do those
        while not self.over.wait(INTERVAL):
            members = list(group_members(self.group))
            worked = sum(int(ticks) for _, about in members for ticks in about[11:15]) / TICKS
            slept += 0 if any(wants_a_processor(folder) for folder, _ in members) else INTERVAL
            if slept >= self.asleep:
                self.wrong = f"hangs: asleep for {slept:.0f} s"
            elif worked >= self.work:
                self.wrong = f"still runs after {worked:.0f} s of processor time"
            if self.wrong and not self.over.is_set():
                try:
                    os.killpg(self.group, signal.SIGKILL)
                except ProcessLookupError:
                    pass  # it has ended meanwhile
                return
