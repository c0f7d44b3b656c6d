"""clang-format and clang-tidy."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

from . import ROOT, is_cpp, run, tail, tracked


def format(report):
    """C++ files are as clang-format-14 leaves them"""
    files = [str(path) for path in tracked() if is_cpp(path)]
    report.note = f"{len(files)} files"
    _, output = run(["clang-format-14", "--dry-run", "--Werror", *files])
    first = {}  # place of each file that is not as it should be
    for line in output.splitlines():
        if "[-Wclang-format-violations]" in line:
            place = line.split(": error:")[0]
            first.setdefault(place.split(":")[0], place)
    if first:
        report.fail(f"`make format` mends {len(first)} files:\n" + "\n".join(first.values()))
    elif output:
        report.fail(tail(output))


# clang-tidy takes seconds a file: it sees the files of the last change, at most so many.
MOST = 8


def changed():
    """Files that differ from the commit before the last, those with the most new lines first."""
    status, output = run(["git", "diff", "--numstat", "HEAD~1"])
    if status:  # there is but one commit
        return [str(path) for path in tracked()]
    rows = [line.split("\t") for line in output.splitlines()]
    rows = [(int(added), name) for added, _, name in rows if added.isdigit() and (ROOT / name).exists()]
    return [name for _, name in sorted(rows, reverse=True)]


def tidy(report):
    """clang-tidy-14 on the files changed since the commit before the last"""
    # Configured for clang-tidy alone: a database where each source stands by itself, without headers that g++ precompiled.
    folder = ROOT / "build/tidy"
    status, output = run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DHEADWATER_BENCH=OFF",
                          "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"], timeout=300)
    if status:
        report.fail(tail(output))
        return
    entries = json.loads((folder / "compile_commands.json").read_text())
    known = {entry["file"] for entry in entries}
    files = [name for name in changed() if str(ROOT / name) in known]
    report.note = f"{len(files[:MOST])} of {len(files)} changed files"

    def one(name):
        # A database of g++ may name warnings that clang does not know.
        return run(["clang-tidy-14", "--quiet", "-p", folder, "--extra-arg=-Wno-unknown-warning-option",
                    name], timeout=300)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (status, output) in zip(files, pool.map(one, files[:MOST])):
            if status:
                report.fail(f"{name}:\n{tail(output)}")
