"""Runs a command under a fault and says what is wrong with how it ended."""
import io
import os
import signal
import subprocess
from xml.etree import ElementTree

from PIL import Image

from commands import environment
from serving import Client
from watch import Watch

# That a run may sleep, and that it may work; or ten times the work that it needs without a fault.
SECONDS = float(os.environ.get("FAULT_SECONDS", "10"))


def is_whole_picture(name, data):
    """Whether it is one at all: a font that cannot be read is replaced by another."""
    try:
        if name.endswith(".png"):
            Image.open(io.BytesIO(data)).load()
        elif name.endswith(".svg"):
            ElementTree.fromstring(data)
        else:
            return name.endswith(".pdf") and data.rstrip().endswith(b"%%EOF")
        return True
    except (OSError, ElementTree.ParseError):
        return False


class Run:
    """One command under one fault. `wrong` waits for its end and judges it.

    `recovers`: a server answers a second question. `finishes`: the same line goes on from there, if its command can.
    `any_words`: it may fail with any words and status, as long as what it leaves is whole."""

    def __init__(self, command, inputs, outputs, env=None, may_die_by=(), fonts_may_differ=False, recovers=False, finishes=True,
                 any_words=False, **options):
        self.command, self.outputs, self.may_die_by = command, outputs, may_die_by
        self.fonts_may_differ, self.recovers, self.finishes = fonts_may_differ, recovers, finishes
        self.any_words = any_words
        outputs.mkdir(parents=True, exist_ok=True)
        options = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
        # Where memory fails, packages raise errors of any kind; elsewhere one that nobody expected is a fault of ours.
        self.memory_fails = (env or {}).get("FAULT_CALL") in ("malloc", "mmap")
        self.answered = None  # what is wrong with the answers of a server
        self.line = command.line(inputs, outputs)
        self.process = subprocess.Popen(self.line, stderr=subprocess.PIPE, start_new_session=True,
                                        env=environment(**(env or {})), **options)

    def wrong(self, printed=True):
        """What is wrong, or None. Unless `printed`, standard output is not compared."""
        wrong = self.wrong_end(printed)
        if not wrong and self.status != 0 and self.command.words[0] == "attribute" and self.finishes:
            return self.wrong_again()
        return wrong

    def watched(self, process):
        return Watch(process.pid, SECONDS, max(SECONDS, 10 * self.command.work))

    def wrong_again(self):
        """What is wrong if the same line goes on with nothing in its way."""
        again = subprocess.Popen(self.line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True, env=environment())
        with self.watched(again) as watch:
            _, said = again.communicate()
        files = {path.name: path.read_bytes() for path in self.outputs.iterdir()}
        if again.returncode != 0 or files != self.command.files:
            return f"run again: {watch.wrong or ''} status {again.returncode}, {sorted(files)}, {said[-300:]!r}"
        return None

    def wrong_end(self, printed):
        with self.watched(self.process) as watch:
            shown, said = self.served() if self.command.serves() else self.process.communicate()
        if watch.wrong:
            return watch.wrong
        status = self.process.returncode
        self.status, self.said = status, said
        files = {path.name: path.read_bytes() for path in self.outputs.iterdir()}
        if self.answered:
            return self.answered
        if status < 0 and -status in self.may_die_by:
            # Some signals leave no time to clean up, and Python's own handlers do nothing; a second run does it.
            cleans = status in (-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP) and not self.command.in_python()
            return self.wrong_files(files, finished=False, killed=not cleans)
        if status == 0:
            # A list of models says of each why it cannot be run.
            listed = self.command.words == ["models"] and b"cannot be run: " in shown
            if printed and shown != self.command.printed and not listed and not self.command.serves():
                return f"exit 0, but other bytes on standard output: {shown[:300]!r}"
            return self.wrong_files(files, finished=True)
        if self.any_words:
            return self.wrong_files(files, finished=False, killed=True)
        interrupted = status == 130 and self.command.in_python() and signal.SIGINT in self.may_die_by
        if self.command.in_python() and b"KeyboardInterrupt" in said and b"data/command.py" not in said:
            return self.wrong_files(files, finished=False)  # while Python starts, its own words
        if status in (1, 2) or interrupted:
            lines = said.decode(errors="replace").splitlines()
            if len(lines) != 1 or not lines[0].startswith("headwater: "):
                return f"exit {status} with {len(lines)} lines instead of one sentence: {said[-600:]!r}"
            if b"was not expected" in said and not self.memory_fails:
                return f"exit {status}: {said[-600:]!r}"
            return self.wrong_files(files, finished=False)
        return f"ended with {signal.Signals(-status).name if status < 0 else status}: {said[-600:]!r}"

    def served(self):
        """Asks a server, and ends it."""
        client = Client(self.process)
        client.find()
        self.answered = client.wrong(self.command.answer, self.recovers)
        shown, said = client.end(signalled=bool(self.may_die_by))
        if self.process.returncode == 0 and client.host is None and not self.may_die_by:
            self.answered = "exit 0, though nobody knows its address"
        return shown, said

    def wrong_files(self, files, finished, killed=False):
        for name, data in files.items():
            if killed and name.endswith(".part"):
                continue
            if name not in self.command.files:
                return f"left a file behind: {name}"
            if data != self.command.files[name] and not (self.fonts_may_differ and is_whole_picture(name, data)):
                return f"{name} has other bytes ({len(data)} instead of {len(self.command.files[name])})"
        missing = [name for name in self.command.files if name not in files]
        return f"exit 0 without {missing[0]}" if finished and missing else None
