"""clang-format, clang-tidy, and whether files include what they use."""
import json
import os
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import ROOT, is_cpp, lines, run, tail, tracked


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
# A file on its own takes most of a second: those of the last commits, at most so many.
COMMITS, MOST_ALONE = 20, 40


def changed(commits):
    """Files that the last commits changed, those with the most new lines first."""
    status, output = run(["git", "diff", "--numstat", f"HEAD~{commits}"])
    if status:  # there are not so many commits
        return [str(path) for path in tracked()]
    rows = [line.split("\t") for line in output.splitlines()]
    rows = [(int(added), name) for added, _, name in rows if added.isdigit() and (ROOT / name).exists()]
    return [name for _, name in sorted(rows, reverse=True)]


def compiled(report):
    """The command that compiles each source, by its name: by itself, not in a unity build, and without headers that g++
    precompiled. None if it cannot be configured."""
    folder = ROOT / "build/tidy"
    status, output = run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DHEADWATER_BENCH=OFF",
                          "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"], timeout=300)
    if status:
        report.fail(tail(output))
        return None
    entries = json.loads((folder / "compile_commands.json").read_text())
    return {os.path.relpath(entry["file"], ROOT): shlex.split(entry["command"]) for entry in entries}


def judged(report, names, command, shown=tail):
    """Runs a command for each file, side by side, and fails for those that end with another status than 0."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (status, output) in zip(names, pool.map(lambda name: run(command(name), timeout=300), names)):
            if status:
                report.fail(f"{name}:\n{shown(output)}")


def tidy(report):
    """clang-tidy-14 on the files changed since the commit before the last"""
    known = compiled(report)
    if known is None:
        return
    files = [name for name in changed(1) if name in known]
    report.note = f"{len(files[:MOST])} of {len(files)} changed files"
    # A database of g++ may name warnings that clang does not know.
    judged(report, files[:MOST], lambda name: ["clang-tidy-14", "--quiet", "-p", ROOT / "build/tidy",
                                               "--extra-arg=-Wno-unknown-warning-option", name])


def alone(report):
    """C++ files that the last 20 commits changed include what they use: each compiles on its own"""
    known = compiled(report)
    if known is None:
        return
    sources = {name: name for name in known}
    for name in known:  # a header is compiled as a source that includes it
        for line in lines(Path(name)):
            if found := re.match(r'#include "(.+\.h)"', line):
                sources.setdefault(found[1], name)

    def command(name):
        words = known[sources[name]]
        flags = [word for word in words[1:words.index("-o")] if word != "-fpch-preprocess"]
        return ["clang++-14", "-fsyntax-only", "-w", *flags, "-x", "c++", name]

    files = [name for name in changed(COMMITS) if name in sources and not name.endswith("-inl.h")]
    report.note = f"{len(files[:MOST_ALONE])} of {len(files)} changed files"
    judged(report, files[:MOST_ALONE], command,
           lambda output: "\n".join(line for line in output.splitlines() if "error: " in line))
