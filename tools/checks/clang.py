"""clang-format and clang-tidy."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, is_cpp, run, tail, tracked


def format(report):
    """C++ files are as clang-format-14 leaves them"""
    files = [str(path) for path in tracked() if is_cpp(path)]
    report.note = f"{len(files)} files"
    for path in files:
        status, output = run(["clang-format-14", "--dry-run", "--Werror", path])
        if status:
            first = output.splitlines()[0] if output else path
            report.fail(f"{first}; `make format` mends it")


# clang-tidy takes seconds a file: it sees the files of the last change, at most so many.
MOST = 8


def tidy(report):
    """clang-tidy-14 on the files changed since the commit before the last"""
    database = ROOT / "build/release/compile_commands.json"
    if not database.exists():
        report.fail("build/release/compile_commands.json is not there; run make test first")
        return
    known = {entry["file"] for entry in json.loads(database.read_text())}
    status, changed = run(["git", "diff", "--name-only", "HEAD~1"])
    names = [str(path) for path in tracked()] if status else changed.split()  # status: a first commit
    files = [name for name in names if str(ROOT / name) in known and (ROOT / name).exists()]
    report.note = f"{len(files[:MOST])} of {len(files)} changed files"

    def one(name):
        # A database of g++ may name warnings that clang does not know.
        return run(["clang-tidy-14", "--quiet", "-p", database.parent, "--extra-arg=-Wno-unknown-warning-option",
                    name], timeout=100)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (status, output) in zip(files, pool.map(one, files[:MOST])):
            if status:
                report.fail(f"{name}:\n{tail(output)}")
