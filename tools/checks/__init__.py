"""What the checks share: the tree, a report, a way to run a command."""
import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# oneDNN, inside PyTorch, crashes on virtual machines that hide a part of AMX. This keeps it off AMX.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")


class Report:
    """What one check found. A failure is a text that names the place; a note is shown in any case."""

    def __init__(self):
        self.failures = []
        self.note = ""

    def fail(self, message):
        self.failures.append(message)


def run(command, cwd=ROOT, timeout=None, env=None):
    """(exit status, standard output and error together). A command that runs too long has status 124."""
    try:
        done = subprocess.run(command, cwd=cwd, timeout=timeout, env=env, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        shown = (error.stdout or b"").decode(errors="replace")
        return 124, f"{shown}\n(stopped after {timeout} s)"


def tail(text, lines=40):
    return "\n".join(text.rstrip().splitlines()[-lines:])


@functools.cache
def tracked():
    """Files that git knows and that are there, relative to the root."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [Path(name) for name in names.stdout.split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file()]


@functools.cache
def lines(path):
    """The lines of a tracked file; none if it is binary."""
    data = (ROOT / path).read_bytes()
    return [] if b"\0" in data else data.decode(errors="replace").splitlines()


def is_cpp(path):
    return path.suffix in {".cpp", ".h"}
