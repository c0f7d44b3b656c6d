"""Attention flow: headwater against LEMON, igraph, scipy and networkx on the same integers.

    build/venv/bin/python bench/flow.py [--threads 2] [--quick] [--attention FILE ...]

Values are compared before they are timed. Competitors solve one pair at a time on one thread; their figure for all
pairs is that time by the number of pairs, and marked ~. Prints markdown and leaves it in build/bench/flow.md.
"""
import argparse
import json
import struct
import subprocess
import time
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.sparse import bmat, csr_matrix
from scipy.sparse.csgraph import maximum_flow

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build/release/bench/bench_flow"
FOLDER = ROOT / "build/bench"

# kind, n, layers, what, seconds at most on two threads
TARGETS = [
    ("bert", 512, 12, "all", 0.1), ("softmax", 512, 12, "all", 0.1), ("uniform", 512, 12, "all", 0.1),
    ("bert-sink", 512, 12, "all", 0.3), ("softmax-1", 512, 12, "all", None), ("bert-1", 512, 12, "all", None),
    ("causal", 512, 12, "all", 2), ("causal-sink", 512, 12, "all", 4), ("causal-bare", 512, 12, "all", None),
    ("bert", 512, 12, "row", 0.05), ("bert", 2048, 12, "all", 5),
    ("bert", 128, 12, "every", 0.2), ("softmax", 128, 12, "every", 0.2), ("bert-sink", 128, 12, "every", 0.2),
    ("causal", 128, 12, "every", 0.2), ("causal-sink", 128, 12, "every", 0.2),
    ("bert", 512, 12, "every", 10), ("softmax", 512, 12, "every", 10), ("bert-sink", 512, 12, "every", 10),
    ("causal", 512, 12, "every", 10), ("causal-sink", 512, 12, "every", 10),
]
COMPETITORS = [("bert", 32, 6, 20), ("bert", 128, 12, 10), ("causal", 128, 12, 10), ("bert", 512, 12, 2)]


def ask(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, check=True, encoding="utf-8")
    return json.loads(done.stdout) if done.stdout else None


def read_integers(kind, n, layers):
    path = FOLDER / "flow.bin"
    ask("write", kind, n, layers, path)
    data = path.read_bytes()
    n, layers = struct.unpack("<2i", data[:8])
    path.unlink()
    return np.frombuffer(data, "<i4", offset=8).reshape(layers, n, n)


def graph_of(layers):
    blocks = [[None] * (len(layers) + 1) for _ in range(len(layers) + 1)]
    for l, layer in enumerate(layers, 1):
        blocks[l][l - 1] = csr_matrix(layer)
    for l in (0, len(layers)):  # so that every block's size is known
        blocks[l][l] = csr_matrix(layers[0].shape, dtype=np.int32)
    return csr_matrix(bmat(blocks, format="csr", dtype=np.int32))


def seconds_a_pair(solve, pairs):
    start = time.perf_counter()
    values = [solve(i, t) for i, t in pairs]
    return (time.perf_counter() - start) / len(pairs), values


def in_python(kind, n, layers):
    """Seconds a pair of scipy and of networkx, after they agree; None where one pair takes minutes."""
    integers = read_integers(kind, n, layers)
    graph, top = graph_of(integers), layers * n
    pairs = [(n - 1, 0), (n // 2, 1)]
    scipy, values = seconds_a_pair(lambda i, t: maximum_flow(graph, top + i, t).flow_value, pairs)
    ours = [ask("value", kind, n, layers, i, t)["value"] for i, t in pairs]
    assert values == ours, (values, ours)
    if n > 32:
        return scipy, None
    network = nx.from_scipy_sparse_array(graph, create_using=nx.DiGraph, edge_attribute="capacity")
    plain, same = seconds_a_pair(lambda i, t: nx.maximum_flow_value(network, top + i, t), pairs)
    assert values == same, (values, same)
    return scipy, plain


def duration(seconds):
    for unit, size in (("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--attention", nargs="*", default=[], help="files of attention to time as well")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ["| attention | n x L | pairs | seconds | processor | at most | saturated | MB |", "|---|---|---|---|---|---|---|---|"]
    cases = TARGETS + [(path, 0, 0, what, None) for path in arguments.attention for what in ("all", "every")]
    for kind, n, layers, what, most in cases:
        if arguments.quick and n > 128:
            continue
        got = ask("ours", kind, n, layers, what, arguments.threads, 3 if n <= 512 and what != "every" else 1)
        lines.append(f"| {Path(kind).name} | {n} x {layers} | {what} | {got['seconds']:.3f} | {got['processor_seconds']:.3f} | "
                     f"{most or '-'} | {100 * got['saturated']:.0f} % | {got['memory_mb']:.0f} |")
        print(lines[-1], flush=True)
    lines += ["", "| all pairs | headwater | LEMON | igraph | scipy | networkx |", "|---|---|---|---|---|---|"]
    for kind, n, layers, pairs in COMPETITORS:
        if arguments.quick and n > 128:
            continue
        ours = ask("ours", kind, n, layers, "all", arguments.threads, 3)["seconds"]
        count = n * (n + 1) // 2 if kind.startswith("causal") else n * n
        lemon = ask("lemon", kind, n, layers, pairs)["seconds_a_pair"]
        igraph = ask("igraph", kind, n, layers, pairs)["seconds_a_pair"]
        scipy, plain = in_python(kind, n, layers) if n <= 128 else (None, None)
        cells = [f"~{duration(x * count)}" if x else "-" for x in (lemon, igraph, scipy, plain)]
        lines.append(f"| {kind} {n} x {layers} | {duration(ours)} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    text = "\n".join(lines) + "\n"
    (FOLDER / "flow.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
