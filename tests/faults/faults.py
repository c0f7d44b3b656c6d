"""Breaks things under the command and sees how it ends: in the right bytes, or in one sentence with status 1 or 2.

    build/venv/bin/python tests/faults/faults.py [--sample SECONDS] [--seed N] [--only KIND] [--jobs N]

`make faults` runs all of it, a share of the commands in each of as many processes as there are processors. With --sample,
trials are drawn from all kinds by chance until the time is over.
"""
import argparse
import collections
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from commands import make_inputs, prepared
from kinds import KINDS, Bench


# Trials of one fault of a command in the whole. What happens at a moment of chance is not better for many more.
MOST = {"allocations": 60, "calls": 20, "limits": 60, "signals": 15, "surroundings": 1, "changing inputs": 10}


def built_library(folder):
    library = folder / "inject.so"
    source = Path(__file__).with_name("inject.c")
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return library


def trials(bench, kinds, sample):
    """(kind, command, name, trial), all in turn, or without end by chance from all kinds."""
    everything = bench.commands
    slow = [command for command in everything if command.is_slow()]  # seconds each
    quick = [command for command in everything if not command.is_slow()]
    if not sample:
        for kind in kinds:
            for bench.commands, most in ((quick, MOST[kind]), (slow, 6)):
                for command, name, trial in KINDS[kind](bench, most=most):
                    yield kind, command, name, trial
        return
    while True:
        bench.commands = [bench.random.choice(everything)]
        kind = bench.random.choice(kinds)
        found = list(KINDS[kind](bench, most=6))
        for command, name, trial in bench.random.sample(found, min(12, len(found))):
            yield kind, command, name, trial


def run(arguments):
    """Runs the trials of one share of the commands; whether none failed."""
    share, shares = map(int, arguments.share.split("/"))
    ran, failed, seconds = collections.Counter(), collections.Counter(), collections.Counter()

    def say(kind):
        print(f"{kind}: {ran[kind]} trials, {failed[kind]} failed, {seconds[kind]:.0f} s", flush=True)

    with tempfile.TemporaryDirectory(prefix="headwater-faults-") as name:
        scratch = Path(name)
        inputs = scratch / "in"
        inputs.mkdir()
        make_inputs(inputs)
        commands = prepared(inputs, scratch, arguments.command, slice(share, None, shares))
        bench = Bench(commands, inputs, built_library(scratch), scratch, random.Random(arguments.seed))
        begun = time.monotonic()
        last = None
        for kind, command, what, trial in trials(bench, [arguments.only] if arguments.only else list(KINDS), arguments.sample):
            if last not in (None, kind) and not arguments.sample:
                say(last)  # it takes long
            last = kind
            place = scratch / "out"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            before = time.monotonic()
            wrong = trial(place)
            seconds[kind] += time.monotonic() - before
            ran[kind] += 1
            if wrong:
                failed[kind] += 1
                print(f"{command}\n  {what}\n  {wrong}", flush=True)
            if arguments.sample and time.monotonic() - begun > arguments.sample:
                break
    for kind in ran if arguments.sample else list(ran)[-1:]:
        say(kind)
    if bench.known:
        print(f"{bench.known} ended by a signal in Pango or Arrow, which docs/reliability.md explains")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--command", default="", help="only commands whose line contains this")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the commands")
    parser.add_argument("--share", default="0/1", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.jobs == 1:
        print(f"seed {arguments.seed}", flush=True)
        return 0 if run(arguments) else 1
    words = [sys.executable, __file__, *sys.argv[1:], "--jobs", "1", "--seed", str(arguments.seed)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        return max(pool.map(lambda k: subprocess.run([*words, "--share", f"{k}/{arguments.jobs}"]).returncode,
                            range(arguments.jobs)))


if __name__ == "__main__":
    sys.exit(main())
