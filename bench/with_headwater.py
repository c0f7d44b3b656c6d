"""Ours: the program bench_rollout, which holds the attention in its own memory and is asked through a pipe."""
import json
import os
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HEADWATER_BUILD", ROOT / "build/release"))


class Headwater:
    name = "headwater"

    def __init__(self, raw_file, shape, threads):
        layers, heads, n, _ = shape
        self.n = n
        self.kept = Path(raw_file).with_suffix(".result")
        words = [BUILD / "bench/bench_rollout", raw_file, layers, heads, n, threads]
        self.program = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.kernel = json.loads(self.program.stdout.readline())["kernel"]

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def result(self, work, discard):
        self.ask(f"{work} {discard}")
        self.ask(f"keep {self.kept}")
        return np.fromfile(self.kept, np.float32).reshape(-1, self.n)

    def seconds(self, work, discard):
        return self.ask(f"{work} {discard}")["seconds"]

    def extra_bytes(self, work, discard):
        self.ask("trim")
        return self.ask(f"{work} {discard}")["extra_bytes"]

    def close(self):
        self.program.stdin.close()
        self.program.wait()
        self.kept.unlink(missing_ok=True)
