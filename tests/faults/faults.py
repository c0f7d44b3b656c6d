"""Breaks things under the command and sees how it ends: in the right bytes, or in one sentence with status 1 or 2.

    build/venv/bin/python tests/faults/faults.py [--sample SECONDS] [--seed N] [--only KIND]

`make faults` runs all of it. With --sample, trials are drawn from all kinds by chance until the time is over.
"""
import argparse
import collections
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from commands import make_inputs, prepared
from kinds import KINDS, Bench


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
            for bench.commands, most in ((quick, 60), (slow, 6)):
                for command, name, trial in KINDS[kind](bench, most=most):
                    yield kind, command, name, trial
        return
    while True:
        bench.commands = [bench.random.choice(everything)]
        kind = bench.random.choice(kinds)
        found = list(KINDS[kind](bench, most=6))
        for command, name, trial in bench.random.sample(found, min(12, len(found))):
            yield kind, command, name, trial


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--command", default="", help="only commands whose line contains this")
    arguments = parser.parse_args()
    seed = random.randrange(1 << 30) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    ran, failures = collections.Counter(), []
    with tempfile.TemporaryDirectory(prefix="headwater-faults-") as name:
        scratch = Path(name)
        inputs = scratch / "in"
        inputs.mkdir()
        make_inputs(inputs)
        commands = prepared(inputs, scratch, arguments.command)
        bench = Bench(commands, inputs, built_library(scratch), scratch, random.Random(seed))
        begun = time.monotonic()
        for kind, command, what, trial in trials(bench, [arguments.only] if arguments.only else list(KINDS), arguments.sample):
            place = scratch / "out"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            wrong = trial(place)
            ran[kind] += 1
            if wrong:
                failures.append((kind, command, what, wrong))
                print(f"{command}\n  {what}\n  {wrong}", flush=True)
            if arguments.sample and time.monotonic() - begun > arguments.sample:
                break
    for kind, count in ran.items():
        bad = sum(one[0] == kind for one in failures)
        print(f"{kind}: {count} trials, {bad} failed")
    if bench.known:
        print(f"{bench.known} ended by a signal in Pango or Arrow, which docs/reliability.md explains")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
