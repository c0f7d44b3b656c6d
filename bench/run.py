"""Rollout: headwater against PyTorch and NumPy on the same attention in memory, with the same number of threads.

    build/venv/bin/python bench/run.py [--threads 2] [--quick]

Results are compared before anything is timed. Competitors take turns of several calls, with a pause in which the
threads of the one before stop spinning, and the best time of each counts: other work on the machine hits all alike. Prints markdown and
leaves it in build/bench/ beside the numbers as JSON.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

# Read when torch and NumPy are imported. oneDNN crashes on virtual machines that hide a part of AMX.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--quick", action="store_true", help="no growth table")
ARGUMENTS = parser.parse_args()
os.environ["OPENBLAS_NUM_THREADS"] = str(ARGUMENTS.threads)

import numpy as np

from with_headwater import BUILD, ROOT, Headwater
from with_numpy import NumPy
from with_torch import Torch

FOLDER = ROOT / "build/bench"
LARGEST_ERROR = 2e-6
FLIPS_FROM = 4096  # tokens; with discard, single entries differ by up to 4e-6 from here on
# With discard an entry within rounding of the threshold may go or stay, which changes its row but hardly the whole.
LARGEST_MEAN_ERROR = 1e-4  # of the mean entry, 1/n
PAUSE = 0.1
CALLS = 4  # a turn, after one that wakes the threads and warms the caches
LONG = 0.5  # seconds of a call that needs no warming up

# What is done, on which attention, with which discard, and the most it may take of torch's time for the full rollout.
CASES = [
    ("full, discard 0.1", False, "full", 0.1, 1 / 12),
    ("full", False, "full", 0, 0.85),
    ("one row", False, "row", 0, 0.3),
    ("full, causal", True, "full", 0, 0.4),
]
# n, layers, heads: fewer where twelve of each would take gigabytes.
GROWTH = [(64, 12, 12), (128, 12, 12), (256, 12, 12), (512, 12, 12), (1024, 12, 12), (2048, 12, 4), (4096, 4, 2)]


def make_attention(shape, causal=False):
    """Rows of exponential weights that sum to 1."""
    random = np.random.default_rng(42)
    out = np.empty(shape, np.float32)
    for layer in out:
        for head in layer:
            random.standard_exponential(out=head, dtype=np.float32)
            if causal:
                head *= np.tri(shape[-1], dtype=np.float32)
            head /= head.sum(axis=1, keepdims=True)
    return out


class Field:
    """All competitors on the same numbers."""

    def __init__(self, shape, causal=False, numpy=True):
        attention = make_attention(shape, causal)
        raw = FOLDER / "attention.raw"
        attention.tofile(raw)
        self.ours = Headwater(raw, shape, ARGUMENTS.threads)
        raw.unlink()
        self.all = [self.ours, Torch(attention, ARGUMENTS.threads)] + ([NumPy(attention)] if numpy else [])

    def compare(self, work, discard):
        """The largest difference between our result and the others'."""
        ours = self.ours.result(work, discard)
        off = [np.abs(ours - other.result(work, discard)) for other in self.all[1:]]
        error = max(float(one.max()) for one in off)
        mean = max(float(one.mean()) for one in off) * ours.shape[1]
        strict = discard == 0 or ours.shape[1] < FLIPS_FROM
        if mean > LARGEST_MEAN_ERROR or (strict and error > LARGEST_ERROR):
            sys.exit(f"bench: {work}, discard {discard}: results differ by {error:.2g}, on average by {mean:.2g} / n")
        return error

    def best(self, work, discard, budget):
        """The best seconds of each, out of as many rounds as the budget of seconds has room for."""
        times = {one.name: [] for one in self.all}
        begin = time.perf_counter()
        rounds = 0
        while rounds < 1 or (rounds < 60 and time.perf_counter() - begin < budget):
            for one in self.all:
                time.sleep(PAUSE)
                times[one.name].append(one.seconds(work, discard))
                if times[one.name][-1] < LONG:
                    times[one.name] += [one.seconds(work, discard) for _ in range(CALLS)]
            rounds += 1
        return {name: min(each) for name, each in times.items()}

    def read_once(self):
        time.sleep(PAUSE)
        return min(self.ours.ask("read")["seconds"] for _ in range(20))

    def memory(self, work, discard):
        return {one.name: one.extra_bytes(work, discard) for one in self.all}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ours.close()


def measure_case(field, name, work, discard, goal):
    error = field.compare(work, discard)
    best = field.best(work, discard, budget=6)
    return {"case": name, "seconds": best, "read_seconds": field.read_once(), "error": error, "goal": goal,
            "ratio": best["headwater"] / best["torch"], "extra_bytes": field.memory(work, discard)}


def measure_cases(shape):
    """One row after the other of the first table."""
    results = []
    for causal in (False, True):
        with Field(shape, causal) as field:
            results += [measure_case(field, name, *rest) for name, is_causal, *rest in CASES if is_causal == causal]
            kernel = field.ours.kernel
    return results, kernel


def measure_growth(n, layers, heads):
    works = {"full": ("full", 0), "discard 0.1": ("full", 0.1), "row": ("row", 0)}
    with Field((layers, heads, n, n), numpy=False) as field:
        errors = [field.compare(*work) for work in works.values()]
        return {"n": n, "layers": layers, "heads": heads, "error": max(errors), "read_seconds": field.read_once(),
                "seconds": {name: field.best(*work, budget=2) for name, work in works.items()}}


def milliseconds(seconds):
    return f"{1000 * seconds:.3g}" if seconds < 1 else f"{1000 * seconds:.0f}"


def megabytes(count):
    return f"{count / 1e6:.1f}"


def case_table(results):
    lines = ["| work | headwater ms | torch ms | NumPy ms | of torch's | at most | reached | of one read "
             "| error | memory MB: headwater, torch, NumPy |", "|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        ours, reading = r["seconds"]["headwater"], r["read_seconds"]
        reached = r["ratio"] <= r["goal"] and (r["case"] != "one row" or ours <= 1.5 * reading)
        times = " | ".join(milliseconds(seconds) for seconds in r["seconds"].values())
        memory = ", ".join(megabytes(count) for count in r["extra_bytes"].values())
        lines.append(f"| {r['case']} | {times} | {r['ratio']:.3f} | {r['goal']:.3f} | {'yes' if reached else 'NO'} "
                     f"| {ours / reading:.2f} | {r['error']:.1e} | {memory} |")
    return lines


def growth_table(results):
    lines = ["| n | layers | heads | one read ms | full ms | torch | ratio | discard 0.1 ms | torch | ratio | one row ms "
             "| torch (full) | ratio | error |", "|" + "---|" * 14]
    for r in results:
        cells = []
        for best in r["seconds"].values():
            cells += [milliseconds(best["headwater"]), milliseconds(best["torch"]),
                      f"{best['headwater'] / best['torch']:.3f}"]
        lines.append(f"| {r['n']} | {r['layers']} | {r['heads']} | {milliseconds(r['read_seconds'])} "
                     f"| {' | '.join(cells)} | {r['error']:.1e} |")
    return lines


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def product_limits():
    """The matrix product alone, and what the machine could do at most."""
    words = [BUILD / "bench/bench_gemm", "--threads", ARGUMENTS.threads, "--sizes", 512]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    shape = (12, 12, 512, 512)
    cases, kernel = measure_cases(shape)
    size = 4 * np.prod(shape)
    machine = (f"{processor()}, {ARGUMENTS.threads} threads, kernel {kernel}; {Torch.about()}; {NumPy.about()}. "
               f"Attention lies in memory; one read of it: {milliseconds(cases[0]['read_seconds'])} ms, "
               f"{size / cases[0]['read_seconds'] / 1e9:.1f} GB/s.")
    lines = ["## Rollout, 12 layers, 12 heads, n = 512", "", machine, "", *case_table(cases), ""]
    lines += ["## The matrix product alone, n = 512", "", *product_limits(), ""]
    growth = [] if ARGUMENTS.quick else [measure_growth(*one) for one in GROWTH]
    if growth:
        lines += ["## Growth with n (fewer layers and heads where memory demands)", "", *growth_table(growth), ""]
    text = "\n".join(lines)
    print(text)
    (FOLDER / "rollout.md").write_text(text)
    (FOLDER / "rollout.json").write_text(json.dumps({"machine": machine, "cases": cases, "growth": growth}, indent=1))


if __name__ == "__main__":
    main()
