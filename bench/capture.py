"""What a capture costs, beside eager attention with the tutorial's class: bench/capture.py [--threads K] [n...]

BERT-base shape, random weights, CPU, no gradients. Seconds are processor time (all threads) and wall time, the least of
several runs, in which the ways take turns; memory is the peak of a process's only run beyond that of the plain forward
pass. Results are compared first.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python"))

RUNS = int(os.environ.get("RUNS", "3"))
WAYS = ("sdpa", "capture", "eager")


def model_of(attention):
    import transformers
    config = transformers.BertConfig(vocab_size=1000, max_position_embeddings=4096, attn_implementation=attention)
    import torch
    torch.manual_seed(0)
    return transformers.BertModel(config, add_pooling_layer=False).eval()


def work(way, n):
    """A function that does the work once and gives the rollout, or None."""
    import torch
    from tutorial import AttentionRollout

    import headwater as hw
    model = model_of("eager" if way == "eager" else "sdpa")
    ids = torch.randint(0, 1000, (1, n), generator=torch.Generator().manual_seed(1))

    def run():
        with torch.no_grad():
            if way == "sdpa":
                model(input_ids=ids)
                return None
            if way == "eager":
                layers = model(input_ids=ids, output_attentions=True).attentions
                return AttentionRollout(discard_ratio=0).compute_rollout(layers)
            with hw.capture(model) as seen:
                model(input_ids=ids)
            return seen.rollout().values

    return run


def memory(way, n):
    """In a process of its own: the peak of memory in MB. A second run would add what malloc keeps of the first."""
    import numpy
    result = work(way, n)()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if result is not None:
        numpy.save(os.environ["RESULT"], result.numpy())
    print(json.dumps(peak))


def timing(n):
    """In a process of its own: (processor seconds, wall seconds) of each way."""
    runs = {way: work(way, n) for way in WAYS}
    found = {way: [math.inf, math.inf] for way in WAYS}
    for turn in range(RUNS + 1):
        for way, run in runs.items():
            cpu, wall = time.process_time(), time.perf_counter()
            run()
            took = time.process_time() - cpu, time.perf_counter() - wall
            if turn:  # the first warms up
                found[way] = [min(pair) for pair in zip(found[way], took)]
    print(json.dumps(found))


def child(threads, *words, **env):
    command = [sys.executable, __file__, "--threads", str(threads), "--child", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | env, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(sizes, threads):
    import tempfile

    import numpy
    print("     n      way    cpu s  of sdpa   wall s  of sdpa  MB beyond  of eager")
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            peak = {way: child(threads, way, n, RESULT=f"{folder}/{way}.npy") for way in WAYS}
            error = numpy.abs(numpy.load(f"{folder}/capture.npy") - numpy.load(f"{folder}/eager.npy")).max()
            assert error < 1e-5, f"results differ by {error}"
        took = child(threads, "time", n)
        beyond = {way: max(peak[way] - peak["sdpa"], 0) for way in WAYS}
        for way in WAYS:
            (cpu, wall), (least, shortest) = took[way], took["sdpa"]
            print(f"{n:6} {way:>8} {cpu:8.3f} {cpu / least:8.2f} {wall:8.3f} {wall / shortest:8.2f}"
                  f" {beyond[way]:10.0f} {beyond[way] / max(beyond['eager'], 1):9.3f}")


def limit_threads(threads):
    import torch

    import headwater as hw
    torch.set_num_threads(threads)
    hw.set_threads(threads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="n")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is None:
        main(asked.sizes or [512, 2048], asked.threads)
    else:
        limit_threads(asked.threads)
        what, size = asked.child[0], int(asked.child[1])
        timing(size) if what == "time" else memory(what, size)
