"""A sample of the harness that breaks things under the command."""
import os

from . import ROOT, run, tail


def check(report):
    """allocations, system calls, limits, signals and inputs that fail, for FAULT_SAMPLE seconds (120), in the order of FAULT_SEED; 'make faults' has all"""
    seconds = os.environ.get("FAULT_SAMPLE", "120")
    # The same order each time: a change is judged by what it broke, not by what chance found in older code.
    seed = os.environ.get("FAULT_SEED", "20")
    status, output = run([ROOT / "build/venv/bin/python", "tests/faults/faults.py", "--sample", seconds, "--seed", seed])
    trials = [int(line.split(": ")[1].split()[0]) for line in output.splitlines() if " trials, " in line]
    report.note = f"{sum(trials)} trials, {output.splitlines()[0]}"
    if status:
        report.fail(f"tests/faults/faults.py:\n{tail(output)}")
