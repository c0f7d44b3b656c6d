"""Relevance against gradient x attention, by the command: time of the method alone, and peak memory.

    build/venv/bin/python bench/relevance.py [--threads 2] [--rounds 6]

Both run the same model on the same ids: a classifier of BERT's shape and a decoder of GPT-2's, with random weights, made
once in build/bench/. The methods take turns, and the best of each counts: the seconds that `--timing` reports, a forward
and a backward pass, and the processor time of the whole process, which includes opening the model. Gradient writes its
n x n map, relevance n numbers. Prints markdown and leaves it in build/bench/relevance.md.
"""
import argparse
import json
import os
import random
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--rounds", type=int, default=6)
parser.add_argument("--cases", type=int, default=4, help="only the first so many")
ARGUMENTS = parser.parse_args()

from with_headwater import BUILD, ROOT

FOLDER = ROOT / "build/bench"
CASES = [("bert-classifier", 128), ("bert-classifier", 512), ("gpt2", 512), ("gpt2", 1024)]
METHODS = {"gradient": ["gradient"], "attnlrp": ["relevance", "--rule", "attnlrp"],
           "frozen": ["relevance", "--rule", "frozen"]}
GOALS = {"attnlrp": 1.05, "frozen": 1.05}


def make(kind, folder):
    """A model of the usual shape with random weights, saved once."""
    if (folder / "config.json").exists():
        return
    import torch
    import transformers
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config()) if kind == "gpt2" else \
        transformers.BertForSequenceClassification(transformers.BertConfig())
    model.save_pretrained(folder)


# Starts a process from a small one: the system counts the memory of the one that forks as the new one's.
LAUNCH = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
out = process.stdout.read()
_, status, used = os.wait4(process.pid, 0)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.stdout.write(out.decode())
sys.exit(status != 0)
"""


def measure(folder, words, ids):
    """Seconds of the method, processor seconds and peak bytes of the process."""
    command = [BUILD / "bin/headwater", words[0], folder, "--ids", ",".join(map(str, ids)), *words[1:], "--threads",
               ARGUMENTS.threads, "--timing", "-o", "-"]
    done = subprocess.run([sys.executable, "-c", LAUNCH, *map(str, command)], stdout=subprocess.PIPE, check=True, text=True)
    figures, out = done.stdout.split("\n", 1)
    kilobytes, processor = figures.split()
    return sum(json.loads(out)["timing"].values()), float(processor), int(kilobytes) * 1024


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ["## Relevance", "", "| model | tokens | method | ms | of gradient's | at most | reached | processor, of gradient's "
             "| peak MB |", "|" + "---|" * 9]
    for kind, tokens in CASES[:ARGUMENTS.cases]:
        make(kind, FOLDER / kind)
        ids = random.Random(1).choices(range(1000, 30000), k=tokens)
        found = {name: [] for name in METHODS}
        for _ in range(ARGUMENTS.rounds):
            for name, words in METHODS.items():
                found[name].append(measure(FOLDER / kind, words, ids))
        base = [min(one) for one in zip(*found["gradient"])]
        for name, each in found.items():
            seconds, processor, peak = (min(one) for one in zip(*each))
            ratio = seconds / base[0]
            goal = f"{GOALS[name]:.2f} | {'yes' if ratio <= GOALS[name] else 'NO'}" if name in GOALS else "- | -"
            lines.append(f"| {kind} | {tokens} | {name} | {1000 * seconds:.0f} | {ratio:.3f} | {goal} "
                         f"| {processor / base[1]:.3f} | {peak / 1e6:.0f} |")
            print(lines[-1], flush=True)
    text = "\n".join([*lines, ""])
    print(text)
    (FOLDER / "relevance.md").write_text(text)


if __name__ == "__main__":
    main()
