"""What the harness runs: every command on small inputs, and what each writes when nothing goes wrong."""
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HEADWATER = os.environ.get("HEADWATER", str(ROOT / "build/release/bin/headwater"))
sys.path.insert(0, str(ROOT / "tests/python"))

from attention import softmax_rows

SENTENCE = "The keys to the cabinet"


@dataclass
class Command:
    """A command line in which IN and OUT stand for folders, and what it gives when nothing goes wrong."""

    words: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    printed: bytes = b""
    said: bytes = b""

    def __str__(self):
        return " ".join(self.words)

    def draws(self):
        return any(name.endswith((".png", ".svg", ".pdf")) for name in self.files)

    def line(self, inputs, outputs):
        return [HEADWATER, *(word.replace("IN/", f"{inputs}/").replace("OUT/", f"{outputs}/") for word in self.words)]


LINES = [
    "rollout IN/a.npy -o OUT/x.json",
    "rollout IN/a.npy --row 3",
    "rollout IN/a.npz -o OUT/x.npz -o OUT/x.npy",
    "rollout IN/a.json -o OUT/x.svg",
    "rollout IN/a.safetensors -o OUT/x.png",
    "rollout IN/a.npy -o OUT/x.pdf",
    "rollout IN/a.npy --discard 0.2 -o OUT/x.html",
    "rollout verb-number --text SENTENCE --row cls",
    "rollout shapes --image IN/image.png --row cls -o OUT/x.png",
    "flow IN/a.npy -o OUT/x.json",
    "raw IN/a.npy --layer 1 -o OUT/x.npy",
    "average IN/a.npy -o OUT/x.json",
    "metrics IN/a.npy -o OUT/x.json",
    "compare IN/a.npy --by method -o OUT/x.json",
    "compare IN/a.npy --by discard -o OUT/x.svg",
    "gradient verb-number --text SENTENCE -o OUT/x.json",
    "relevance verb-number --text SENTENCE -o OUT/x.json",
    "relevance facts --prompt PROMPT -o OUT/x.svg",
    "generate facts --prompt PROMPT --count 1 -o OUT/x.json",
    "evaluate verb-number --limit 2 --method rollout,frozen -o OUT/x.json",
    "info IN/a.npz",
    "info verb-number --text SENTENCE",
    "models",
    "completion bash",
    "rollout IN/none.npy",
    "rollout IN/a.npy --residual 3",
]
PROMPT = "The blue kite went from the attic to the chest. Question: where is the blue kite? Answer:"


def make_inputs(folder):
    random = np.random.default_rng(5)
    attention = softmax_rows(random, (3, 2, 24, 24)).astype("f4")
    np.save(folder / "a.npy", attention)
    np.savez(folder / "a.npz", **{f"layer_{k}": layer for k, layer in enumerate(attention)})
    (folder / "a.json").write_text('{"attentions": %s}' % attention[:, :, :6, :6].round(3).tolist())
    header = b'{"layer.0":{"dtype":"F32","shape":[2,24,24],"data_offsets":[0,4608]}}'
    header += b" " * (-len(header) % 8)
    (folder / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + attention[0].tobytes())
    from PIL import Image
    Image.fromarray(random.integers(0, 255, (32, 32, 3), dtype="u1")).save(folder / "image.png")


def environment(**more):
    """What the command sees of ours: no colours, no width of a terminal, no cache of models."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "HEADWATER_MODELS") if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8", "HF_HOME": "/nonexistent"} | more


def prepared(inputs, scratch):
    """All commands with what they give when nothing goes wrong. Fails if two runs of one differ."""
    out = []
    for line in LINES:
        words = [{"SENTENCE": SENTENCE, "PROMPT": PROMPT}.get(word, word) for word in line.split()]
        command = Command(words)
        results = []
        for _ in range(2):
            place = scratch / "out"  # the trials' own: a page names the files of its command line
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            done = subprocess.run(command.line(inputs, place), capture_output=True, env=environment(), timeout=120)
            files = {path.name: path.read_bytes() for path in place.iterdir()}
            results.append((done.returncode, files, done.stdout, done.stderr))
        if results[0] != results[1]:
            raise SystemExit(f"two runs of the same line differ: {command}")
        if results[0][0] not in (0, 1, 2):
            raise SystemExit(f"ends with {results[0][0]} before any fault: {command}")
        _, command.files, command.printed, command.said = results[0]
        out.append(command)
    return out
